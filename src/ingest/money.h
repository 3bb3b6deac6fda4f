// Amounts of money and quantities as bills print them: "$1,234.56", "1.234,56 €", "(12.30)", "CHF 0.77".
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tare {

// How a file separates decimals, as far as its numbers have shown.
struct DecimalMark {
  bool comma = false;  // "0,075" was seen, or the file is semicolon-separated
};

struct PrintedAmount {
  double value = 0;
  std::string_view rest;      // what stands behind the number: "gibibyte month"
  std::string_view currency;  // ISO code of a symbol or code around the number; empty when there is none
  bool ambiguous = false;     // "1,234" could be either
};
// nullopt when the text begins with no number. Updates what is known of `mark` by numbers that can be read one way
// only.
std::optional<PrintedAmount> parse_amount(std::string_view text, DecimalMark& mark);

// "Cost in CHF", "Cost ($)", "price_usd_hour", "Betrag (EUR)" -> the ISO code; empty when the heading names none.
std::string_view currency_of_heading(std::string_view heading);

// Adds doubles without losing the small ones beside the large (Neumaier).
class ExactSum {
 public:
  void add(double value);
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

}  // namespace tare
