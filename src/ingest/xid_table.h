// What NVIDIA's Xid and SXid numbers mean, and the usual action.
//
// Sources: "Analyzing Xid Errors with the Xid Catalog" (https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog
// .html, read 2026-11), its decode of Xid 144-150, the older list of Xid errors for codes that the catalog calls
// unused, and the enumeration of
// NVSwitch errors in NVIDIA's open GPU kernel modules (ctrl_dev_nvswitch.h) for SXids. Mnemonics and actions are
// NVIDIA's words; meanings are ours, short. Thread safety: constant data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tare {

struct XidMeaning {
  std::int64_t xid = 0;
  std::string_view mnemonic;     // "GSP_RPC_TIMEOUT"
  std::string_view meaning;      // "GSP firmware did not answer in time"
  std::string_view action;       // what brings the GPU back: "RESET_GPU"; empty where NVIDIA gives none
  std::string_view investigate;  // what finds the cause: "CONTACT_SUPPORT"
};

std::span<const XidMeaning> xid_table();
const XidMeaning* xid_meaning(std::int64_t xid);  // nullptr for a number nobody has published

// Xid 144 to 150: "<unit> <severity> XC0 i0 Link 00 (<intr_info> <error_status> …)".
struct NvlinkDecode {
  std::string_view action;
  std::string_view investigate;
};
// `sub_code`: bits 25:20 of intr_info. Both empty when the combination is not published.
NvlinkDecode nvlink_decode(std::string_view unit, std::int64_t sub_code, std::uint32_t error_status);

// What an action asks for, in words; empty for one that is not known.
std::string_view action_in_words(std::string_view action);

// Meaning of an NVSwitch error (SXid); empty when not known. Its severity stands in the line.
std::string_view sxid_meaning(std::int64_t sxid);

}  // namespace tare
