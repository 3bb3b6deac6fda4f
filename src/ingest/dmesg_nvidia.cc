#include "ingest/dmesg_nvidia.h"

#include <charconv>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/scan.h"
#include "ingest/xid_table.h"

namespace tare {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The digits that `text` begins with.
std::string_view digits(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  return text.substr(0, end);
}

std::optional<std::uint32_t> hex(std::string_view text) {
  text = trim(text);
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "PCI:0000:9b:00" -> "0000:9b:00".
std::string_view without_pci(std::string_view address) {
  address = trim(address);
  return address.starts_with("PCI:") ? address.substr(4) : address;
}

// "pid=2024380, name=nvidia-smi, Timeout …": takes the pairs off `text`.
void take_process(std::string_view& text, FactRecord& xid) {
  for (const auto& [key, name] : {std::pair("pid=", "pid"), std::pair("name=", "process")}) {
    text = trim(text);
    if (!text.starts_with(key)) continue;
    const std::size_t comma = text.find(',');
    std::string_view value = trim(text.substr(std::string_view(key).size(), comma - std::string_view(key).size()));
    if (value.starts_with('\'') && value.ends_with('\'') && value.size() > 1) value = value.substr(1, value.size() - 2);
    if (value == "<unknown>" || value.empty()) {
      xid.set_unknown(name);
    } else if (to_integer(value) && name == std::string_view("pid")) {
      xid.set(name, *to_integer(value));
    } else {
      xid.set(name, value);
    }
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  text = trim(text);
}

// "SAW_MVB Nonfatal XC0 i0 Link 0 (0x00000001 0x00000008 …)"
void read_nvlink5(std::string_view text, FactRecord& xid) {
  const std::vector<std::string_view> words = words_in(text.substr(0, text.find('(')));
  if (words.size() < 2) return;
  std::string unit(words[0]);
  std::size_t i = 1;
  for (; i < words.size() && words[i] != "Fatal" && !equals_ignoring_case(words[i], "nonfatal") &&
         !equals_ignoring_case(words[i], "non-fatal");
       ++i) {
    if (i > 3) return;
    unit += " " + std::string(words[i]);
  }
  if (i >= words.size()) return;
  xid.set("unit", unit);
  xid.set("fatal", words[i] == "Fatal");
  for (; i + 1 < words.size(); ++i) {
    if (words[i] == "Link") xid.set_parsed("link", words[i + 1]);
    if (words[i] == "i0" || words[i] == "i1") xid.set("injected", words[i] == "i1");
  }
  const std::optional<std::string_view> registers = between(text, "(", ")");
  const std::vector<std::string_view> values = registers ? words_in(*registers) : std::vector<std::string_view>();
  if (values.size() < 2 || !hex(values[0]) || !hex(values[1])) return;
  const std::uint32_t intr_info = *hex(values[0]);
  const std::int64_t sub_code = intr_info >> 20 & 0x3F;
  xid.set("intr_info", values[0]);
  xid.set("error_status", values[1]);
  xid.set("sub_code", sub_code);
  const NvlinkDecode decode = nvlink_decode(unit, sub_code, *hex(values[1]));
  if (decode.action.empty()) return;
  xid.set("action", decode.action);
  xid.set("investigate", decode.investigate);
  if (const std::string_view words_for = action_in_words(decode.action); !words_for.empty()) {
    xid.set("action_in_words", words_for);
  }
}

// "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"
void read_recovery(std::string_view text, FactRecord& xid) {
  const std::optional<std::string_view> to = after(text, " to 0x");
  if (!to) return;
  if (const auto action = between(*to, "(", ")")) xid.set("recovery_action", *action);
  if (const auto before = between(text, " from 0x", " to ")) {
    if (const auto action = between(*before, "(", ")")) xid.set("recovery_action_before", *action);
  }
}

// "Timeout after 6s of waiting for RPC response from GPU4 GSP! Expected function 103 (GSP_RM_ALLOC)"
void read_gsp(std::string_view text, FactRecord& xid) {
  if (const auto behind = after(text, "Timeout after ")) {
    if (const auto seconds = to_integer(digits(*behind))) xid.set("timeout_s", *seconds);
  }
  if (const auto gpu = between(text, "from GPU", " ")) xid.set("gpu_in_text", "GPU" + std::string(*gpu));
  if (const auto behind = after(text, "Expected function ")) {
    if (const auto number = to_integer(digits(*behind))) xid.set("rpc_function", *number);
    if (const auto name = between(*behind, "(", ")")) xid.set("rpc_function_name", *name);
  }
}

void read_details(std::int64_t number, std::string_view text, FactRecord& xid) {
  if (const auto behind = after(text, "caused by previous Xid ")) {
    if (const auto cause = to_integer(digits(*behind))) xid.set("caused_by_xid", *cause);
  }
  if (text.starts_with("Ch ")) {
    const std::vector<std::string_view> words = words_in(text);
    std::string_view channel = words.size() > 1 ? words[1] : std::string_view();
    while (channel.ends_with(',')) channel.remove_suffix(1);
    if (!channel.empty()) xid.set("channel", channel);
  }
  if (number >= 144 && number <= 150) read_nvlink5(text, xid);
  if (number == 154) read_recovery(text, xid);
  if (number == 119 || number == 120) read_gsp(text, xid);
  if (number == 31) {
    if (const auto address = between(text, "faulted @ ", ".")) xid.set("fault_address", *address);
    if (const auto engine = between(text, "ENGINE ", " ")) xid.set("engine", *engine);
    if (const auto type = between(text, "Fault is of type ", " ")) xid.set("fault_type", *type);
    if (const auto access = after(text, "ACCESS_TYPE_")) {
      const std::vector<std::string_view> words = words_in(*access);
      if (!words.empty()) xid.set("access_type", words.front());
    }
  }
  if (const auto link = after(text, "link "); number == 74 && link) {
    if (const auto index = to_integer(digits(*link))) xid.set("link", *index);
  }
}

}  // namespace

std::optional<FactRecord> read_xid(std::string_view message, std::int64_t line) {
  const std::size_t at = message.find("Xid (");
  if (at == std::string_view::npos || (at > 0 && message[at - 1] == 'S')) return std::nullopt;
  const std::string_view inside = message.substr(at + 5);
  const std::size_t close = inside.find(')');
  if (close > 40) return std::nullopt;
  std::string_view rest = inside.substr(close + 1);
  if (rest.starts_with(':')) rest.remove_prefix(1);
  rest = trim(rest);
  const std::string_view number = digits(rest);
  if (number.empty() || number.size() > 5) return std::nullopt;
  FactRecord xid(line);
  const std::int64_t code = *to_integer(number);
  xid.set("xid", code);
  xid.set("pci", without_pci(inside.substr(0, close)));
  rest = rest.substr(number.size());
  if (rest.starts_with(',')) rest.remove_prefix(1);
  take_process(rest, xid);
  if (!rest.empty()) xid.set("text", rest.substr(0, 400));
  if (const XidMeaning* const meaning = xid_meaning(code)) {
    xid.set("mnemonic", meaning->mnemonic);
    xid.set("meaning", meaning->meaning);
    if (!meaning->action.empty()) {
      xid.set("action", meaning->action);
      if (const auto words = action_in_words(meaning->action); !words.empty()) xid.set("action_in_words", words);
    }
    if (!meaning->investigate.empty()) xid.set("investigate", meaning->investigate);
  }
  read_details(code, rest, xid);
  return xid;
}

std::optional<FactRecord> read_sxid(std::string_view message, std::int64_t line) {
  const std::size_t at = message.find("SXid (");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view inside = message.substr(at + 6);
  const std::size_t close = inside.find(')');
  if (close > 40) return std::nullopt;
  std::string_view rest = inside.substr(close + 1);
  if (rest.starts_with(':')) rest.remove_prefix(1);
  rest = trim(rest);
  const std::string_view number = digits(rest);
  if (number.empty() || number.size() > 6) return std::nullopt;
  FactRecord sxid(line);
  sxid.set("sxid", *to_integer(number));
  sxid.set("pci", without_pci(inside.substr(0, close)));
  if (const auto device = between(message, "nvidia-nvswitch", ":")) sxid.set_parsed("nvswitch", *device);
  rest = rest.substr(number.size());
  if (rest.starts_with(',')) rest.remove_prefix(1);
  rest = trim(rest);
  if (rest.starts_with("Fatal")) sxid.set("fatal", true);
  if (rest.starts_with("Non-fatal") || rest.starts_with("Nonfatal")) sxid.set("fatal", false);
  if (const auto link = after(rest, "Link ")) {
    if (const auto index = to_integer(digits(*link))) sxid.set("link", *index);
  }
  if (!rest.empty()) sxid.set("text", rest.substr(0, 400));
  if (const std::string_view meaning = sxid_meaning(*to_integer(number)); !meaning.empty()) {
    sxid.set("meaning", meaning);
  }
  return sxid;
}

std::optional<FactRecord> read_fabric_manager_error(std::string_view message, std::int64_t line) {
  const std::size_t at = message.find("detected ");
  if (at == std::string_view::npos || !contains(message, "fatal error ")) return std::nullopt;
  FactRecord error(line);
  const std::string_view text = message.substr(at + 9);
  const std::vector<std::string_view> words = words_in(text);
  if (words.size() < 4) return std::nullopt;
  error.set("device", words[0]);
  error.set("fatal", !contains(text, "non-fatal"));
  const std::string_view number = digits(after(text, "fatal error ").value_or(""));
  if (const auto code = to_integer(number)) {
    error.set("error", *code);
    if (const std::string_view meaning = sxid_meaning(*code); !meaning.empty()) error.set("meaning", meaning);
  }
  for (const auto& [marker, name] : {std::pair("on fid ", "fid"), std::pair("pci bus id ", "pci"),
                                     std::pair("physical id ", "physical_id"), std::pair("port ", "port")}) {
    const std::vector<std::string_view> behind = words_in(after(text, marker).value_or(""));
    if (!behind.empty()) error.set_parsed(name, behind.front());
  }
  return error;
}

}  // namespace tare
