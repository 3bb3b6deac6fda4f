#include "ingest/money.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "ingest/scan.h"

namespace tare {
namespace {

struct Symbol {
  std::string_view symbol;
  std::string_view code;
};
constexpr auto kSymbols = std::to_array<Symbol>({
    {"US$", "USD"},
    {"C$", "CAD"},
    {"A$", "AUD"},
    {"$", "USD"},
    {"€", "EUR"},
    {"£", "GBP"},
    {"¥", "JPY"},
    {"￥", "CNY"},
    {"₹", "INR"},
    {"₩", "KRW"},
    {"CHF", "CHF"},
    {"Fr.", "CHF"},
    {"zł", "PLN"},
    {"R$", "BRL"},
});
constexpr auto kCodes = std::to_array<std::string_view>({"USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "KRW",
                                                         "CAD", "AUD", "SEK", "NOK", "DKK", "PLN", "BRL", "SGD",
                                                         "HKD", "NZD", "CZK", "ILS", "MXN", "ZAR", "TWD", "RMB"});

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Cuts a currency off the front or the back of `text`.
std::string_view take_currency(std::string_view& text) {
  for (const Symbol& one : kSymbols) {
    if (text.starts_with(one.symbol)) {
      text = trim(text.substr(one.symbol.size()));
      return one.code;
    }
    if (text.ends_with(one.symbol)) {
      text = trim(text.substr(0, text.size() - one.symbol.size()));
      return one.code;
    }
  }
  for (const std::string_view code : kCodes) {
    if (text.starts_with(code) && text.size() > 3 && !(text[3] >= 'A' && text[3] <= 'Z')) {
      text = trim(text.substr(3));
      return code;
    }
    if (text.ends_with(code)) {
      text = trim(text.substr(0, text.size() - 3));
      return code;
    }
  }
  return {};
}

}  // namespace

std::optional<PrintedAmount> parse_amount(std::string_view text, DecimalMark& mark) {
  text = trim(text);
  PrintedAmount amount;
  bool negative = false;
  if (text.starts_with('(') && text.ends_with(')') && text.size() > 2) {  // bookkeepers' minus
    negative = true;
    text = trim(text.substr(1, text.size() - 2));
  }
  if (text.starts_with('-')) {
    negative = !negative;
    text = trim(text.substr(1));
  } else if (text.starts_with('+')) {
    text = trim(text.substr(1));
  } else if (text.starts_with("\xE2\x88\x92")) {  // the minus sign of typographers
    negative = !negative;
    text = trim(text.substr(3));
  }
  amount.currency = take_currency(text);
  if (text.starts_with('-')) {
    negative = !negative;
    text = trim(text.substr(1));
  }
  // The run of digits, points, commas, and the blanks and apostrophes that separate thousands.
  std::size_t end = 0;
  while (end < text.size()) {
    const char c = text[end];
    const bool joint = (c == '\'' || c == ' ') && end + 3 < text.size() && end > 0 && is_digit(text[end - 1]) &&
                       is_digit(text[end + 1]) && is_digit(text[end + 2]) && is_digit(text[end + 3]);
    if (!is_digit(c) && c != '.' && c != ',' && !joint) break;
    ++end;
  }
  std::size_t exponent = end;
  if (end > 0 && end + 1 < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    exponent = end + 1;
    if (text[exponent] == '-' || text[exponent] == '+') ++exponent;
    const std::size_t digits = exponent;
    while (exponent < text.size() && is_digit(text[exponent])) ++exponent;
    if (exponent == digits) exponent = end;
  }
  const std::string_view digits = text.substr(0, end);
  if (std::none_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
  const std::size_t comma = digits.rfind(',');
  const std::size_t point = digits.rfind('.');
  const auto count = [digits](char c) { return std::count(digits.begin(), digits.end(), c); };
  char decimal = '.';
  if (comma != std::string_view::npos && point != std::string_view::npos) {
    decimal = comma > point ? ',' : '.';
    mark.comma = decimal == ',';
  } else if (comma != std::string_view::npos) {
    const bool groups =
        count(',') > 1 || (digits.size() - comma - 1 == 3 && comma <= 3 && digits.substr(0, comma) != "0");
    if (count(',') == 1 && !groups) mark.comma = true;  // "0,075", "12,5"
    decimal = groups && (count(',') > 1 || !mark.comma) ? '.' : ',';
    amount.ambiguous = groups && count(',') == 1;
  } else if (point != std::string_view::npos && count('.') > 1) {
    decimal = ',';  // "1.234.567"
  }
  std::string plain;
  for (const char c : digits) {
    if (is_digit(c)) plain += c;
    if (c == decimal) plain += '.';
  }
  plain += text.substr(end, exponent - end);
  const std::optional<double> value = to_number(plain);
  if (!value) return std::nullopt;
  amount.value = negative ? -*value : *value;
  amount.rest = trim(text.substr(exponent));
  if (amount.currency.empty() && !amount.rest.empty()) {
    std::string_view rest = amount.rest;
    const std::string_view code = take_currency(rest);
    if (!code.empty() && rest.empty()) {
      amount.currency = code;
      amount.rest = {};
    }
  }
  return amount;
}

std::string_view currency_of_heading(std::string_view heading) {
  for (const Symbol& one : kSymbols) {
    if (!one.symbol.empty() && contains(heading, one.symbol) && one.code != "CHF") return one.code;
  }
  for (const std::string_view code : kCodes) {
    for (std::size_t at = 0; at + 3 <= heading.size(); ++at) {
      if (!equals_ignoring_case(heading.substr(at, 3), code)) continue;
      const auto letter = [heading](std::size_t i) {
        const char c = heading[i];
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      };
      const bool free_before = at == 0 || !letter(at - 1);
      const bool free_behind = at + 3 >= heading.size() || !letter(at + 3);
      const bool camel = heading.substr(at, 3) == code && free_behind;  // costUSD
      if ((free_before && free_behind) || camel) return code;
    }
  }
  return {};
}

void ExactSum::add(double value) {
  const double next = sum_ + value;
  lost_ += std::fabs(sum_) >= std::fabs(value) ? (sum_ - next) + value : (value - next) + sum_;
  sum_ = next;
}

}  // namespace tare
