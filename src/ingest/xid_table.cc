#include "ingest/xid_table.h"

#include <algorithm>
#include <array>

namespace tare {
namespace {

constexpr XidMeaning kXids[] = {
    {1, "ROBUST_CHANNEL_FIFO_ERROR_FIFO_METHOD", "invalid push buffer stream (GPUs before Ampere)", "CONTACT_SUPPORT",
     ""},
    {2, "ROBUST_CHANNEL_FIFO_ERROR_SW_METHOD", "invalid push buffer stream (GPUs before Ampere)", "CONTACT_SUPPORT",
     ""},
    {3, "ROBUST_CHANNEL_FIFO_ERROR_UNK_METHOD", "invalid push buffer stream (GPUs before Ampere)", "CONTACT_SUPPORT",
     ""},
    {4, "ROBUST_CHANNEL_FIFO_ERROR_CHANNEL_BUSY", "invalid push buffer stream or semaphore timeout (before Ampere)",
     "CONTACT_SUPPORT", ""},
    {5, "ROBUST_CHANNEL_FIFO_ERROR_RUNOUT_OVERFLOW", "unused", "CONTACT_SUPPORT", ""},
    {6, "ROBUST_CHANNEL_FIFO_ERROR_PARSE_ERR", "invalid push buffer stream (GPUs before Ampere)", "CONTACT_SUPPORT",
     ""},
    {7, "ROBUST_CHANNEL_FIFO_ERROR_PTE_ERR", "invalid push buffer address (GPUs before Ampere)", "CONTACT_SUPPORT", ""},
    {8, "ROBUST_CHANNEL_FIFO_ERROR_IDLE_TIMEOUT", "the GPU stopped processing", "RESTART_APP", "CONTACT_SUPPORT"},
    {9, "ROBUST_CHANNEL_GR_ERROR_INSTANCE", "the driver programmed the GPU wrongly (before Ampere)", "CONTACT_SUPPORT",
     ""},
    {10, "ROBUST_CHANNEL_GR_ERROR_SINGLE_STEP", "unused", "CONTACT_SUPPORT", ""},
    {11, "ROBUST_CHANNEL_GR_ERROR_MISSING_HW", "invalid or corrupted push buffer stream", "RESTART_APP",
     "CHECK_APP/CUDA"},
    {12, "ROBUST_CHANNEL_GR_ERROR_SW_METHOD", "driver error handling a GPU exception (before Ampere)",
     "CONTACT_SUPPORT", ""},
    {13, "ROBUST_CHANNEL_GR_EXCEPTION", "graphics engine exception, mostly the program's own fault (out of bounds)",
     "RESTART_APP", "WORKFLOW_XID_13"},
    {14, "ROBUST_CHANNEL_FAKE_ERROR", "an error injected from user space", "IGNORE", "CONTACT_SUPPORT"},
    {15, "ROBUST_CHANNEL_SCANLINE_TIMEOUT", "unused", "CONTACT_SUPPORT", ""},
    {16, "ROBUST_CHANNEL_VBLANK_CALLBACK_TIMEOUT", "display engine hung (before Ampere)", "CONTACT_SUPPORT", ""},
    {17, "ROBUST_CHANNEL_PARAMETER_ERROR", "unused", "CONTACT_SUPPORT", ""},
    {18, "ROBUST_CHANNEL_BUS_MASTER_TIMEOUT_ERROR", "bus mastering disabled in PCI configuration space (before Ampere)",
     "CONTACT_SUPPORT", ""},
    {19, "ROBUST_CHANNEL_DISP_MISSED_NOTIFIER", "display engine error (before Ampere)", "CONTACT_SUPPORT", ""},
    {20, "ROBUST_CHANNEL_MPEG_ERROR_SW_METHOD", "invalid MPEG push buffer (before Ampere)", "CONTACT_SUPPORT", ""},
    {21, "ROBUST_CHANNEL_ME_ERROR_SW_METHOD", "invalid motion estimation push buffer (before Ampere)",
     "CONTACT_SUPPORT", ""},
    {22, "ROBUST_CHANNEL_VP_ERROR_SW_METHOD", "invalid video processor push buffer (before Ampere)", "CONTACT_SUPPORT",
     ""},
    {23, "ROBUST_CHANNEL_RC_LOGGING_ENABLED", "unused", "CONTACT_SUPPORT", ""},
    {24, "ROBUST_CHANNEL_GR_SEMAPHORE_TIMEOUT", "GPU semaphore timeout (before Ampere)", "CONTACT_SUPPORT", ""},
    {25, "ROBUST_CHANNEL_GR_ILLEGAL_NOTIFY", "invalid or illegal push buffer stream", "RESTART_APP", "CHECK_APP/CUDA"},
    {26, "ROBUST_CHANNEL_FIFO_ERROR_FBISTATE_TIMEOUT", "frame buffer timeout (before Ampere)", "CONTACT_SUPPORT", ""},
    {27, "ROBUST_CHANNEL_VP_ERROR", "video processor exception (before Ampere)", "CONTACT_SUPPORT", ""},
    {28, "ROBUST_CHANNEL_VP2_ERROR", "video processor exception (before Ampere)", "CONTACT_SUPPORT", ""},
    {29, "ROBUST_CHANNEL_BSP_ERROR", "video processor exception (before Ampere)", "CONTACT_SUPPORT", ""},
    {30, "ROBUST_CHANNEL_BAD_ADDR_ACCESS", "GPU semaphore access error (before Ampere)", "CONTACT_SUPPORT", ""},
    {31, "ROBUST_CHANNEL_FIFO_ERROR_MMU_ERR_FLT", "GPU memory page fault, mostly the program's own fault",
     "RESTART_APP", "WORKFLOW_XID_31"},
    {32, "ROBUST_CHANNEL_PBDMA_ERROR", "invalid push buffer stream; often signal quality on PCIe", "RESTART_APP",
     "CHECK_APP/CUDA"},
    {33, "ROBUST_CHANNEL_SEC_ERROR", "internal micro-controller error (before Ampere)", "CONTACT_SUPPORT", ""},
    {34, "ROBUST_CHANNEL_MSVLD_ERROR", "video processor exception (before Ampere)", "CONTACT_SUPPORT", ""},
    {35, "ROBUST_CHANNEL_MSPDEC_ERROR", "video processor exception (before Ampere)", "CONTACT_SUPPORT", ""},
    {36, "ROBUST_CHANNEL_MSPPP_ERROR", "video processor exception (before Ampere)", "CONTACT_SUPPORT", ""},
    {37, "ROBUST_CHANNEL_FECS_ERR_UNIMP_FIRMWARE_METHOD", "driver firmware error", "IGNORE", "CHECK_APP/CUDA"},
    {38, "ROBUST_CHANNEL_FECS_ERR_WATCHDOG_TIMEOUT", "driver firmware error", "IGNORE", "CONTACT_SUPPORT"},
    {39, "ROBUST_CHANNEL_CE0_ERROR", "copy engine exception", "RESTART_APP", "CONTACT_SUPPORT"},
    {40, "ROBUST_CHANNEL_CE1_ERROR", "copy engine exception", "RESTART_APP", "CONTACT_SUPPORT"},
    {41, "ROBUST_CHANNEL_CE2_ERROR", "copy engine exception", "RESTART_APP", "CONTACT_SUPPORT"},
    {42, "ROBUST_CHANNEL_VIC_ERROR", "video processor exception (before Ampere)", "CONTACT_SUPPORT", ""},
    {43, "ROBUST_CHANNEL_RESETCHANNEL_VERIF_ERROR",
     "the program hit a fault of its own and must end; the GPU stays healthy", "IGNORE", "CONTACT_SUPPORT"},
    {44, "ROBUST_CHANNEL_GR_FAULT_DURING_CTXSW", "graphics engine fault during a context switch", "IGNORE",
     "CONTACT_SUPPORT"},
    {45, "ROBUST_CHANNEL_PREEMPTIVE_REMOVAL",
     "cleanup after an earlier error or an aborted program: a consequence, look for what came before",
     "WORKFLOW_XID_45", "WORKFLOW_XID_45"},
    {46, "ROBUST_CHANNEL_GPU_TIMEOUT_ERROR", "the GPU stopped processing", "RESET_GPU", "CONTACT_SUPPORT"},
    {47, "ROBUST_CHANNEL_NVENC0_ERROR", "video encoder exception (before Ampere)", "CONTACT_SUPPORT", ""},
    {48, "ROBUST_CHANNEL_GPU_ECC_DBE", "double bit ECC error: an uncorrectable memory error", "WORKFLOW_XID_48",
     "WORKFLOW_XID_48"},
    {49, "SILENT_RUNNING_CONSTANT_LEVEL_SET_BY_REGISTRY", "unused", "CONTACT_SUPPORT", ""},
    {50, "SILENT_RUNNING_LEVEL_TRANSITION_DUE_TO_RC_ERROR", "unused", "CONTACT_SUPPORT", ""},
    {51, "SILENT_RUNNING_STRESS_TEST_FAILURE", "unused", "CONTACT_SUPPORT", ""},
    {52, "SILENT_RUNNING_LEVEL_TRANS_DUE_TO_TEMP_RISE", "unused", "CONTACT_SUPPORT", ""},
    {53, "SILENT_RUNNING_TEMP_REDUCED_CLOCKING", "unused", "CONTACT_SUPPORT", ""},
    {54, "SILENT_RUNNING_PWR_REDUCED_CLOCKING", "auxiliary power is not connected to the board", "CHECK_MECHANICALS",
     "CONTACT_SUPPORT"},
    {55, "SILENT_RUNNING_TEMPERATURE_READ_ERROR", "unused", "CONTACT_SUPPORT", ""},
    {56, "DISPLAY_CHANNEL_EXCEPTION", "display engine error (before Ampere)", "CONTACT_SUPPORT", ""},
    {57, "FB_LINK_TRAINING_FAILURE_ERROR", "error programming the video memory interface (before Ampere)",
     "CONTACT_SUPPORT", ""},
    {58, "FB_MEMORY_ERROR", "unstable video memory interface (before Ampere)", "CONTACT_SUPPORT", ""},
    {59, "PMU_ERROR", "internal micro-controller error (older drivers)", "CONTACT_SUPPORT", ""},
    {60, "ROBUST_CHANNEL_SEC2_ERROR", "video processor exception", "RESTART_APP", "INVESTIGATE_SW"},
    {61, "PMU_BREAKPOINT", "internal micro-controller breakpoint (newer drivers)", "CONTACT_SUPPORT", ""},
    {62, "PMU_HALT_ERROR", "internal micro-controller halt", "RESET_GPU", "CONTACT_SUPPORT"},
    {63, "INFOROM_DRAM_RETIREMENT_EVENT", "a memory row was remapped (or a page retired), due at the next reset",
     "IGNORE", "IGNORE"},
    {64, "INFOROM_DRAM_RETIREMENT_FAILURE", "remapping a memory row (or retiring a page) failed", "RESET_GPU",
     "CONTACT_SUPPORT"},
    {65, "ROBUST_CHANNEL_NVENC1_ERROR", "video encoder exception (before Ampere)", "CONTACT_SUPPORT", ""},
    {66, "ROBUST_CHANNEL_FECS_ERR_REG_ACCESS_VIOLATION", "illegal access by the driver", "IGNORE", "INVESTIGATE_SW"},
    {67, "ROBUST_CHANNEL_FECS_ERR_VERIF_VIOLATION", "illegal access by the driver", "IGNORE", "CONTACT_SUPPORT"},
    {68, "ROBUST_CHANNEL_NVDEC0_ERROR", "video decoder 0 exception", "RESTART_APP", "CONTACT_SUPPORT"},
    {69, "ROBUST_CHANNEL_GR_CLASS_ERROR", "graphics engine class error", "RESTART_APP", "CHECK_APP/CUDA"},
    {70, "ROBUST_CHANNEL_CE3_ERROR", "copy engine 3 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {71, "ROBUST_CHANNEL_CE4_ERROR", "copy engine 4 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {72, "ROBUST_CHANNEL_CE5_ERROR", "copy engine 5 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {73, "ROBUST_CHANNEL_NVENC2_ERROR", "video encoder 2 error (before Ampere)", "CONTACT_SUPPORT", ""},
    {74, "NVLINK_ERROR", "NVLink error: the link itself, or the device at its other end", "WORKFLOW_NVLINK_ERR",
     "CONTACT_SUPPORT"},
    {75, "ROBUST_CHANNEL_CE6_ERROR", "copy engine 6 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {76, "ROBUST_CHANNEL_CE7_ERROR", "copy engine 7 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {77, "ROBUST_CHANNEL_CE8_ERROR", "copy engine 8 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {78, "VGPU_START_ERROR", "a vGPU could not start", "UPDATE_SWFW", "UPDATE_SWFW"},
    {79, "ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS", "the GPU has fallen off the PCIe bus", "RESTART_BM",
     "CONTACT_SUPPORT"},
    {80, "PBDMA_PUSHBUFFER_CRC_MISMATCH", "corrupted data sent to the GPU", "RESTART_APP", "CHECK_APP/CUDA"},
    {81, "ROBUST_CHANNEL_VGA_SUBSYSTEM_ERROR", "VGA subsystem error (before Ampere)", "CONTACT_SUPPORT", ""},
    {82, "ROBUST_CHANNEL_NVJPG0_ERROR", "JPEG engine 0 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {83, "ROBUST_CHANNEL_NVDEC1_ERROR", "video decoder 1 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {84, "ROBUST_CHANNEL_NVDEC2_ERROR", "video decoder 2 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {85, "ROBUST_CHANNEL_CE9_ERROR", "copy engine 9 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {86, "ROBUST_CHANNEL_OFA0_ERROR", "optical flow engine exception", "RESTART_APP", "CONTACT_SUPPORT"},
    {87, "NVTELEMETRY_DRIVER_REPORT", "unused", "CONTACT_SUPPORT", ""},
    {88, "ROBUST_CHANNEL_NVDEC3_ERROR", "video decoder 3 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {89, "ROBUST_CHANNEL_NVDEC4_ERROR", "video decoder 4 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {90, "LTC_ERROR", "unused", "CONTACT_SUPPORT", ""},
    {91, "RESERVED_XID", "unused", "CONTACT_SUPPORT", ""},
    {92, "EXCESSIVE_SBE_INTERRUPTS", "high rate of single bit ECC errors (corrected)", "IGNORE", "CONTACT_SUPPORT"},
    {93, "INFOROM_ERASE_LIMIT_EXCEEDED", "the InfoROM's wear limit was reached", "IGNORE", "CONTACT_SUPPORT"},
    {94, "ROBUST_CHANNEL_CONTAINED_ERROR", "contained memory error: one program is hit", "RESTART_APP",
     "IGNORE (sympathetic)"},
    {95, "ROBUST_CHANNEL_UNCONTAINED_ERROR", "uncontained memory error: every program on the GPU is hit", "RESET_GPU",
     "IGNORE (sympathetic)"},
    {96, "ROBUST_CHANNEL_NVDEC5_ERROR", "video decoder 5 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {97, "ROBUST_CHANNEL_NVDEC6_ERROR", "video decoder 6 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {98, "ROBUST_CHANNEL_NVDEC7_ERROR", "video decoder 7 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {99, "ROBUST_CHANNEL_NVJPG1_ERROR", "JPEG engine 1 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {100, "ROBUST_CHANNEL_NVJPG2_ERROR", "JPEG engine 2 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {101, "ROBUST_CHANNEL_NVJPG3_ERROR", "JPEG engine 3 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {102, "ROBUST_CHANNEL_NVJPG4_ERROR", "JPEG engine 4 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {103, "ROBUST_CHANNEL_NVJPG5_ERROR", "JPEG engine 5 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {104, "ROBUST_CHANNEL_NVJPG6_ERROR", "JPEG engine 6 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {105, "ROBUST_CHANNEL_NVJPG7_ERROR", "JPEG engine 7 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {106, "SMBPBI_TEST_MESSAGE", "a test message", "IGNORE", "IGNORE"},
    {107, "SMBPBI_TEST_MESSAGE_SILENT", "a test message", "IGNORE", "IGNORE"},
    {108, "NVLINK_REMOTE_TRANSLATION_ERROR", "NVLink remote translation error", "IGNORE", "XID_137_FLOW"},
    {109, "ROBUST_CHANNEL_CTXSW_TIMEOUT_ERROR", "a context switch timed out", "RESET_GPU", "CONTACT_SUPPORT"},
    {110, "SEC_FAULT_ERROR", "security fault", "RESET_GPU", "INVESTIGATE_SW"},
    {111, "BUNDLE_ERROR_EVENT", "display bundle error", "CONTACT_SUPPORT", ""},
    {112, "DISP_SUPERVISOR_ERROR", "display supervisor error", "CONTACT_SUPPORT", ""},
    {113, "DP_LT_FAILURE", "DisplayPort link training failed", "CONTACT_SUPPORT", ""},
    {114, "HEAD_RG_UNDERFLOW", "display pipeline underflow", "CONTACT_SUPPORT", ""},
    {115, "CORE_CHANNEL_REGS", "display core channel registers", "CONTACT_SUPPORT", ""},
    {116, "WINDOW_CHANNEL_REGS", "display window channel registers", "CONTACT_SUPPORT", ""},
    {117, "CURSOR_CHANNEL_REGS", "display cursor channel registers", "CONTACT_SUPPORT", ""},
    {118, "HEAD_REGS", "display head registers", "CONTACT_SUPPORT", ""},
    {119, "GSP_RPC_TIMEOUT", "the GPU's system processor (GSP) did not answer in time", "RESET_GPU", "INVESTIGATE_SW"},
    {120, "GSP_ERROR", "error in code on the GPU's system processor (GSP)", "RESET_GPU", "INVESTIGATE_SW"},
    {121, "C2C_ERROR", "corrected errors on the C2C link to the Grace CPU", "IGNORE", "CONTACT_SUPPORT"},
    {122, "SPI_PMU_RPC_READ_FAIL", "reading the SPI flash failed", "CONTACT_SUPPORT", ""},
    {123, "SPI_PMU_RPC_WRITE_FAIL", "writing the SPI flash failed", "CONTACT_SUPPORT", ""},
    {124, "SPI_PMU_RPC_ERASE_FAIL", "erasing the SPI flash failed", "CONTACT_SUPPORT", ""},
    {125, "INFOROM_FS_ERROR", "InfoROM file system error", "CONTACT_SUPPORT", ""},
    {126, "ROBUST_CHANNEL_CE10_ERROR", "copy engine 10 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {127, "ROBUST_CHANNEL_CE11_ERROR", "copy engine 11 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {128, "ROBUST_CHANNEL_CE12_ERROR", "copy engine 12 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {129, "ROBUST_CHANNEL_CE13_ERROR", "copy engine 13 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {130, "ROBUST_CHANNEL_CE14_ERROR", "copy engine 14 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {131, "ROBUST_CHANNEL_CE15_ERROR", "copy engine 15 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {132, "ROBUST_CHANNEL_CE16_ERROR", "copy engine 16 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {133, "ROBUST_CHANNEL_CE17_ERROR", "copy engine 17 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {134, "ROBUST_CHANNEL_CE18_ERROR", "copy engine 18 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {135, "ROBUST_CHANNEL_CE19_ERROR", "copy engine 19 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {136, "ALI_TRAINING_FAIL", "NVLink training failed", "RESET_GPU", "INVESTIGATE_LINK_SI"},
    {137, "NVLINK_PRIV_ERR", "illegal access to a peer over NVLink, mostly the program's own fault", "IGNORE",
     "XID_137_FLOW"},
    {138, "ROBUST_CHANNEL_DLA_ERROR", "DLA error", "CONTACT_SUPPORT", ""},
    {139, "ROBUST_CHANNEL_OFA1_ERROR", "optical flow engine 1 error", "RESTART_APP", "CONTACT_SUPPORT"},
    {140, "UNRECOVERABLE_ECC_ERROR_ESCAPE", "uncorrectable memory error that could not be marked for remapping",
     "RESET_GPU", "CONTACT_SUPPORT"},
    {141, "ROBUST_CHANNEL_FAST_PATH_ERROR", "CUDA fast path error", "IGNORE", "CONTACT_SUPPORT"},
    {142, "ROBUST_CHANNEL_NVENC3_ERROR", "video encoder 3 error", "CONTACT_SUPPORT", ""},
    {143, "GPU_INIT_ERROR", "the GPU could not be initialised", "RESET_GPU", "CONTACT_SUPPORT"},
    {144, "NVLINK_SAW_ERROR", "NVLink 5 SAW error", "WORKFLOW_NVLINK5_ERR", "WORKFLOW_NVLINK5_ERR"},
    {145, "NVLINK_RLW_ERROR", "NVLink 5 RLW error, often the consequence of a link that went down elsewhere",
     "WORKFLOW_NVLINK5_ERR", "WORKFLOW_NVLINK5_ERR"},
    {146, "NVLINK_TLW_ERROR", "NVLink 5 TLW error", "WORKFLOW_NVLINK5_ERR", "WORKFLOW_NVLINK5_ERR"},
    {147, "NVLINK_TREX_ERROR", "NVLink 5 TREX error", "WORKFLOW_NVLINK5_ERR", "WORKFLOW_NVLINK5_ERR"},
    {148, "NVLINK_NVLPW_CTRL_ERROR", "NVLink 5 NVLPW control error", "WORKFLOW_NVLINK5_ERR", "WORKFLOW_NVLINK5_ERR"},
    {149, "NVLINK_NETIR_ERROR", "NVLink 5 network error: a link went down or is noisy", "WORKFLOW_NVLINK5_ERR",
     "WORKFLOW_NVLINK5_ERR"},
    {150, "NVLINK_MSE_ERROR", "NVLink 5 MSE firmware error", "WORKFLOW_NVLINK5_ERR", "WORKFLOW_NVLINK5_ERR"},
    {151, "ROBUST_CHANNEL_KEY_ROTATION_ERROR", "key rotation error (confidential computing)", "RESTART_VM",
     "CONTACT_SUPPORT"},
    {152, "ROBUST_CHANNEL_DLA_SMMU_ERROR", "DLA SMMU error", "IGNORE", "CONTACT_SUPPORT"},
    {153, "ROBUST_CHANNEL_DLA_TIMEOUT", "DLA timeout", "IGNORE", "CONTACT_SUPPORT"},
    {154, "GPU_RECOVERY_ACTION_CHANGED", "says which recovery other Xids now require", "XID_154", ""},
    {155, "NVLINK_SW_DEFINED_ERROR", "an NVLink was taken down on purpose (also to sleep)", "RESET_GPU",
     "INVESTIGATE_SW_USER"},
    {156, "RESOURCE_RETIREMENT_EVENT", "a GPU resource was retired", "RESET_GPU", "IGNORE"},
    {157, "RESOURCE_RETIREMENT_FAILURE", "a GPU resource could not be retired: no spare is left", "IGNORE",
     "CONTACT_SUPPORT"},
    {158, "GPU_FATAL_TIMEOUT", "fatal timeout of the GPU", "RESET_GPU", "CONTACT_SUPPORT"},
    {159, "ROBUST_CHANNEL_CHI_NON_DATA_ERROR", "CHI non-data error on the C2C link", "CHECK_UVM",
     "SYMPATHETIC_REPORT_SOLO"},
    {160, "CHANNEL_RETIREMENT_EVENT", "a memory channel was retired", "IGNORE", "INVESTIGATE_SW"},
    {161, "CHANNEL_RETIREMENT_FAILURE", "a memory channel could not be retired", "IGNORE", "INVESTIGATE_SW"},
    {162, "PSHC_REENGAGED", "power smoothing hardware is active again", "", ""},
    {163, "PSHC_DISENGAGED", "power smoothing hardware is off: thermal events or a timeout", "", ""},
    {164, "PSHC_LOW_LIFETIME", "power smoothing hardware is near the end of its life", "", ""},
    {165, "PSHC_ZERO_LIFETIME", "power smoothing hardware has reached the end of its life", "", ""},
    {166, "NVLINK_SECURE_CRYPTO_ERR", "NVLink traffic before encryption was set up (confidential computing)", "", ""},
    {167, "PCIE_FATAL_TIMEOUT", "fatal timeout on PCIe", "", ""},
    {168, "REDUCED_GPU_MEMORY_CAPACITY", "errors in the write protected region of GPU memory; seen with ECC off", "",
     ""},
    {169, "SEC2_HALT_ERROR", "internal micro-controller (SEC2) halt", "", ""},
    {170, "NVLINK_SECURE_OTHER", "NVLink interrupt in confidential computing mode", "", ""},
    {171, "UNCORRECTABLE_DRAM_ERROR", "goes with Xid 48: the uncorrectable error was in DRAM", "", ""},
    {172, "UNCORRECTABLE_SRAM_ERROR", "goes with Xid 48: the uncorrectable error was in SRAM", "", ""},
};

// Link down reasons of NETIR_LINK_EVT / NETIR_LINK_DOWN by sub-code.
struct LinkDown {
  std::int64_t sub_code;
  std::string_view action;
  std::string_view investigate;
};
constexpr LinkDown kLinkDown[] = {
    {0, "RESET_GPU", "SYMPATHETIC_REPORT_SOLO"},
    {1, "RESET_GPU", "REPORT_ISSUE (if seen >1 per day)"},
    {2, "RESET_GPU", "INVESTIGATE_LINK_SI"},
    {4, "RESET_GPU", "INVESTIGATE_LINK_SI"},
    {10, "RESET_GPU", "INVESTIGATE_LINK_SI"},
    {15, "RESET_GPU", "INVESTIGATE_SW_USER"},
    {16, "RESET_GPU", "INVESTIGATE_SW_USER_LINK_SI"},
    {17, "RESET_GPU", "INVESTIGATE_SW_USER"},
    {18, "RESET_GPU", "INVESTIGATE_SW_USER_LINK_SI"},
    {21, "RESET_GPU", "INVESTIGATE_PEER_DEVICE"},
    {22, "RESET_GPU", "INVESTIGATE_SW_USER"},
    {32, "RESET_GPU", "INVESTIGATE_PEER_DEVICE"},
    {33, "RESET_GPU", "INVESTIGATE_PEER_DEVICE"},
    {34, "RESET_GPU", "INVESTIGATE_PEER_DEVICE"},
    {35, "RESET_GPU", "INVESTIGATE_PEER_DEVICE"},
    {36, "RESET_GPU", "INVESTIGATE_PEER_DEVICE"},
    {37, "RESET_GPU", "INVESTIGATE_PEER_DEVICE"},
    {38, "IGNORE", "INVESTIGATE_SW_USER"},
    {40, "IGNORE", "INVESTIGATE_HOST"},
    {42, "RESET_GPU", "INVESTIGATE_LINK_SI_AND_CABLES"},
    {43, "RESET_GPU", "INVESTIGATE_LINK_SI_AND_CABLES"},
};

// The other units, by the bit of the error status. Units of one name before and after driver R575 are both listed.
struct UnitStatus {
  std::string_view unit;  // a prefix
  std::uint32_t status;
  std::string_view action;
  std::string_view investigate;
};
constexpr UnitStatus kUnits[] = {
    {"SAW_MVB", 0x1, "IGNORE", "CONTACT_SUPPORT"},
    {"SAW_MVB", 0x2, "RESET_GPU", "CONTACT_SUPPORT"},
    {"SAW_MVB", 0x4, "IGNORE", "IGNORE"},
    {"SAW_MVB", 0x8, "IGNORE", "CONTACT_SUPPORT"},
    {"SAW_MVB", 0x10, "RESET_GPU", "CONTACT_SUPPORT"},
    {"SAW_MVB", 0x20, "IGNORE", "IGNORE"},
    {"RLW_CTRL", 0x80000000, "IGNORE", "CONTACT_SUPPORT"},
    {"RLW_REMAP", 0x1, "XID_154_EVAL", "CONTACT_SUPPORT"},
    {"RLW_REMAP", 0x2, "XID_154_EVAL", "CONTACT_SUPPORT"},
    {"RLW_REMAP", 0x4, "XID_154_EVAL", "CHECK_NVLINK_FAILURE_FLOW"},
    {"RLW_REMAP", 0x8, "XID_154_EVAL", "CHECK_NVLINK_FAILURE_FLOW"},
    {"RLW_REMAP", 0x10, "XID_154_EVAL", "CHECK_NVLINK_FAILURE_FLOW"},
    {"RLW_REMAP", 0x20, "XID_154_EVAL", "CHECK_NVLINK_FAILURE_FLOW"},
    {"RLW_REMAP", 0x40, "RESET_GPU", "CONTACT_SUPPORT"},
    {"RLW_REMAP", 0x80, "RESET_GPU", "CONTACT_SUPPORT"},
    {"RLW_REMAP", 0x100, "IGNORE", "IGNORE"},
    {"RLW_REMAP", 0x200, "IGNORE", "IGNORE"},
    {"RLW_REMAP", 0x80000000, "IGNORE", "CONTACT_SUPPORT"},
    {"RLW_RSPCOL", 0x1, "IGNORE", "IGNORE"},
    {"RLW_RSPCOL", 0x2, "RESET_GPU", "CONTACT_SUPPORT"},
    {"RLW_RSPCOL", 0x80000000, "IGNORE", "CONTACT_SUPPORT"},
    {"RLW_RXPIPE", 0x1, "IGNORE", "CONTACT_SUPPORT"},
    {"RLW_RXPIPE", 0x2, "IGNORE", "CONTACT_SUPPORT"},
    {"RLW_RXPIPE", 0x4, "IGNORE", "CONTACT_SUPPORT"},
    {"RLW_RXPIPE", 0x8, "IGNORE", "CONTACT_SUPPORT"},
    {"RLW_RXPIPE", 0x80000000, "IGNORE", "CONTACT_SUPPORT"},
    {"RLW_SRC_TRACK", 0x1, "RESET_GPU", "CONTACT_SUPPORT"},
    {"RLW_SRC_TRACK", 0x2, "IGNORE", "IGNORE"},
    {"RLW_SRC_TRACK", 0x4, "XID_154_EVAL", "IGNORE"},
    {"RLW_SRC_TRACK", 0x8, "XID_154_EVAL", "IGNORE"},
    {"RLW_SRC_TRACK", 0x10, "RESET_GPU", "CONTACT_SUPPORT"},
    {"RLW_SRC_TRACK", 0x20, "RESET_GPU", "CONTACT_SUPPORT"},
    {"RLW_SRC_TRACK", 0x80000000, "IGNORE", "CONTACT_SUPPORT"},
    {"RLW_TAGSTATE", 0x1, "IGNORE", "IGNORE"},
    {"RLW_TAGSTATE", 0x2, "RESET_GPU", "CONTACT_SUPPORT"},
    {"RLW_TAGSTATE", 0x10000, "IGNORE", "IGNORE"},
    {"RLW_TAGSTATE", 0x20000, "RESET_GPU", "CONTACT_SUPPORT"},
    {"RLW_TAGSTATE", 0x100000, "RESET_GPU", "CONTACT_SUPPORT"},
    {"RLW_TAGSTATE", 0x80000000, "IGNORE", "CONTACT_SUPPORT"},
    {"TLW_CTRL", 0x1, "IGNORE", "IGNORE"},
    {"TLW_CTRL", 0x2, "IGNORE", "CONTACT_SUPPORT"},
    {"TLW_CTRL", 0x4, "RESET_GPU", "CONTACT_SUPPORT"},
    {"TLW_CTRL", 0x80000000, "IGNORE", "CONTACT_SUPPORT"},
    {"TLW_RX", 0x1, "IGNORE", "IGNORE"},
    {"TLW_RX", 0x2, "IGNORE", "CONTACT_SUPPORT"},
    {"TLW_RX", 0x4, "RESET_GPU", "CONTACT_SUPPORT"},
    {"TLW_RX", 0x80000000, "IGNORE", "CONTACT_SUPPORT"},
    {"TLW_TX", 0x1, "IGNORE", "IGNORE"},
    {"TLW_TX", 0x2, "IGNORE", "CONTACT_SUPPORT"},
    {"TLW_TX", 0x4, "RESET_GPU", "CONTACT_SUPPORT"},
    {"TLW_TX", 0x80000000, "IGNORE", "CONTACT_SUPPORT"},
    {"TREX", 0x1, "IGNORE", "CONTACT_SUPPORT"},
    {"TREX", 0x80000000, "IGNORE", "CONTACT_SUPPORT"},
    {"NVLPW", 0x80000000, "IGNORE", "CONTACT_SUPPORT"},
    {"NETIR_BER_EVENT", 0x0, "IGNORE", "INVESTIGATE_LINK_SI_AND_CABLES"},
    {"NETIR_BER_EVENT", 0x1, "IGNORE", "INVESTIGATE_LINK_SI_AND_CABLES"},
    {"NETIR_BER_EVENT", 0x2, "IGNORE", "INVESTIGATE_LINK_SI_AND_CABLES"},
    {"NETIR_BER_EVENT", 0x3, "IGNORE", "INVESTIGATE_LINK_SI_AND_CABLES"},
    {"NETIR_MFDE_EVENT", 0x1, "RESET_GPU", "CONTACT_SUPPORT"},
    {"NETIR_MFDE_EVENT", 0x3, "IGNORE", "IGNORE"},
    {"NETIR_MFDE_EVENT", 0x4, "RESET_GPU", "CONTACT_SUPPORT"},
    {"NETIR_MFDE_EVENT", 0x5, "RESET_GPU", "CONTACT_SUPPORT"},
    {"NETIR_MFDE_EVENT", 0x7, "RESET_GPU", "CONTACT_SUPPORT"},
    {"MSE", 0x0, "RESET_GPU", "CONTACT_SUPPORT"},
    {"MSE", 0xFFFFFFFF, "RESET_GPU", "CONTACT_SUPPORT"},
};

struct Words {
  std::string_view name;
  std::string_view words;
};
constexpr Words kActions[] = {
    {"RESTART_APP", "restart the program"},
    {"RESET_GPU", "drain the node and reset the GPU"},
    {"RESTART_BM", "drain and restart the node"},
    {"RESTART_VM", "restart the virtual machine"},
    {"IGNORE", "nothing to do"},
    {"IGNORE (sympathetic)", "follow the other errors around it"},
    {"CONTACT_SUPPORT", "contact the vendor's support"},
    {"CHECK_MECHANICALS", "check seating and power connections"},
    {"UPDATE_SWFW", "update firmware and software"},
    {"WORKFLOW_XID_13", "repeated on one unit: run diagnostics; otherwise look at the program"},
    {"WORKFLOW_XID_31", "repeated on one GPU: run diagnostics; otherwise look at the program"},
    {"WORKFLOW_XID_45", "follow the Xid before it; alone: restart the fabric manager"},
    {"WORKFLOW_XID_48", "reset the GPU; with Xid 63 or 64 drain first; SRAM over its threshold: run field diagnostics"},
    {"WORKFLOW_NVLINK_ERR", "decode the registers of the line; reset the GPU, check the link's connections"},
    {"WORKFLOW_NVLINK5_ERR", "decode unit, severity and status of the line"},
    {"XID_154", "do what the line says: none, drain P2P, drain and reset, GPU reset, node reboot"},
    {"XID_154_EVAL", "do what an Xid 154 beside it says; without one restart the program"},
    {"CHECK_UVM", "with UVM or vGPU reset the GPU; otherwise nothing"},
    {"CHECK_APP/CUDA", "look at the program and its CUDA calls"},
    {"INVESTIGATE_SW", "look at the software, the program's or NVIDIA's"},
};

struct Sxid {
  std::int64_t sxid;
  std::string_view meaning;
};
constexpr Sxid kSxids[] = {
    {10004, "thermal event of the NVSwitch begins"},
    {10005, "thermal event of the NVSwitch ends"},
    {10006, "thermal shutdown of the NVSwitch"},
    {11001, "ingress invalid command"},
    {11004, "ingress access control failure: mostly a program's illegal access"},
    {11009, "ingress invalid VC set"},
    {11012, "ingress header single bit ECC errors over the limit"},
    {11013, "ingress header double bit ECC error"},
    {11017, "ingress remap table double bit ECC error"},
    {11018, "ingress RID table double bit ECC error"},
    {11019, "ingress RLAN table double bit ECC error"},
    {11020, "ingress parity error"},
    {11021, "ingress remap table single bit ECC errors over the limit"},
    {11022, "ingress RID table single bit ECC errors over the limit"},
    {11023, "ingress RLAN table single bit ECC errors over the limit"},
    {12001, "egress buffer error"},
    {12002, "egress packet route error"},
    {12021, "egress crossbar header single bit ECC errors over the limit"},
    {12022, "egress crossbar header double bit ECC error"},
    {12023, "egress RAM header single bit ECC errors over the limit"},
    {12024, "egress RAM header double bit ECC error"},
    {12025, "egress credit overflow"},
    {12026, "egress request target ID mismatch"},
    {12027, "egress response request ID mismatch"},
    {12028, "egress non-posted PRIV error"},
    {12030, "egress crossbar header parity error"},
    {12031, "egress credit parity error"},
    {12032, "egress flit type mismatch"},
    {12033, "egress credit timeout"},
    {14017, "TS ATO timeout"},
    {15001, "route buffer error"},
    {15006, "route transaction done error"},
    {15008, "route GLT single bit ECC errors over the limit"},
    {15009, "route GLT double bit ECC error"},
    {15010, "route parity error"},
    {15011, "route single bit ECC errors over the limit"},
    {15012, "route double bit ECC error"},
    {15013, "route credit parity error"},
    {19047, "NVLink transmit header double bit ECC error"},
    {19048, "NVLink transmit data double bit ECC error"},
    {19049, "NVLink transmit single bit ECC errors over the limit"},
    {19084, "NVLink heartbeat timeout"},
    {20001, "NVLink transmit replay"},
    {20009, "NVLink receive: short error rate over its threshold"},
    {20010, "NVLink receive: long error rate over its threshold"},
    {20012, "NVLink receive: CRC errors over their threshold"},
    {20034, "NVLink LTSSM fault up: the link failed"},
    {20035, "NVLink LTSSM fault down: the link failed"},
    {22003, "minion halt"},
    {22011, "minion external error"},
    {22012, "minion fatal link interrupt"},
    {22013, "minion non-fatal interrupt"},
    {24001, "source track single bit ECC errors over the limit"},
    {24002, "source track single bit ECC errors over the limit"},
    {24003, "source track single bit ECC errors over the limit"},
    {24004, "source track double bit ECC error"},
    {24005, "source track double bit ECC error"},
    {24006, "source track double bit ECC error"},
    {24007, "source track timeout"},
    {25010, "NVLink training failed"},
};

}  // namespace

std::span<const XidMeaning> xid_table() { return kXids; }

const XidMeaning* xid_meaning(std::int64_t xid) {
  const auto* const found =
      std::lower_bound(std::begin(kXids), std::end(kXids), xid,
                       [](const XidMeaning& one, std::int64_t number) { return one.xid < number; });
  return found != std::end(kXids) && found->xid == xid ? found : nullptr;
}

NvlinkDecode nvlink_decode(std::string_view unit, std::int64_t sub_code, std::uint32_t error_status) {
  if (unit.starts_with("NETIR_LINK")) {
    for (const LinkDown& one : kLinkDown) {
      if (one.sub_code == sub_code) return {one.action, one.investigate};
    }
    return {};
  }
  if (unit == "NETIR" || unit == "NETIR_INT") return {"RESET_GPU", "SYMPATHETIC_REPORT_SOLO"};
  for (const UnitStatus& one : kUnits) {
    if (unit.starts_with(one.unit) && one.status == error_status) return {one.action, one.investigate};
  }
  return {};
}

std::string_view action_in_words(std::string_view action) {
  for (const Words& one : kActions) {
    if (one.name == action) return one.words;
  }
  return {};
}

std::string_view sxid_meaning(std::int64_t sxid) {
  for (const Sxid& one : kSxids) {
    if (one.sxid == sxid) return one.meaning;
  }
  // A thousand is a part of the switch.
  switch (sxid / 1000) {
    case 10:
      return "NVSwitch host interface";
    case 11:
      return "NVSwitch port, ingress";
    case 12:
      return "NVSwitch port, egress";
    case 14:
      return "NVSwitch port, tag state";
    case 15:
      return "NVSwitch port, route";
    case 19:
      return "NVLink transaction layer";
    case 20:
      return "NVLink data link layer";
    case 22:
      return "NVLink minion";
    case 23:
      return "NVSwitch crossbar";
    case 24:
      return "NVSwitch port, source track";
    case 25:
      return "NVLink interface";
    default:
      return {};
  }
}

}  // namespace tare
