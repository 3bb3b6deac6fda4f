// Where a datum comes from: every fact of the catalog carries one.
#pragma once

#include <string>

namespace tare {

struct Source {
  std::string text;      // the document or page, with its revision where known
  std::string evidence;  // read, derived, measured, datasheet_known, unsourced, unknown
  std::string doubt;     // why not to trust it; empty when nothing is known against it
  std::string note;
  std::string place;  // "offers.csv:123", of the shipped or overlaid file
};

}  // namespace tare
