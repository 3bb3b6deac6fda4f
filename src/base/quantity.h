// What a person types with its unit: "30min", "120GB", "400Gb/s", "60000 USD".
//
// Inside, everything is a plain double in SI base units (seconds, bytes, bytes/s, watts, US dollars). A bare number
// where a unit is needed is an error that lists the accepted units. kB/MB/GB/TB are powers of 1000, KiB/MiB/GiB/TiB of
// 1024; a lower-case b is a bit ("400Gb/s" = 50e9 bytes/s).
#pragma once

#include <string>
#include <string_view>

#include "base/diagnostic.h"

namespace tare {

enum class Dimension {
  kDuration,     // s, ms, us, min, h, d, w
  kBytes,        // B, kB, MB, GB, TB, PB, KiB … PiB
  kBandwidth,    // B/s … TB/s, KiB/s …, b/s, kb/s, Mb/s, Gb/s, Tb/s -> bytes/s
  kMoney,        // USD (others are refused: no exchange rate is built in)
  kPower,        // W, kW, MW
  kEnergyPrice,  // USD/kWh, USD/MWh -> USD/J
  kRatio,        // "5%", or a bare number
};

// The accepted spellings, for help texts: "s, ms, us, min, h, d, w".
std::string_view accepted_units(Dimension dimension);

// `text` -> base units. Errors carry rule "missing-unit", "unknown-unit" or "not-a-number" and no place; callers add
// it. The number stands first, in plain or scientific form ("60000", "1.5e3"), without separators. "µs" reads as "us".
Result<double> parse_quantity(std::string_view text, Dimension dimension);

// Short forms for people, three significant digits without trailing zeros: "72 h", "5.2 d", "41.3 ms"; "120 GB";
// "400 Gb/s"; "$60,000", "-$743". A value that is not finite reads "unknown" (NaN) or "infinite".
std::string format_duration(double seconds);  // to 120 s in s, to 120 min in min, to 4 days in h, then d
std::string format_bytes(double bytes);       // decimal: disks and links
std::string format_gib(double bytes);         // binary: memory, "71.3 GiB"
std::string format_bits_per_s(double bytes_per_s);
std::string format_usd(double usd, int decimals = 0);
std::string format_count(double count);               // 1,234,567
std::string format_si(double value, int digits = 3);  // 1.23M

}  // namespace tare
