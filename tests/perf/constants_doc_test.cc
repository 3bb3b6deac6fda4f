// docs/step-model.md has every constant with the value of the code. TARE_UPDATE_DOCS=1 writes the values into the page;
// what a constant means is the page's own text, and a constant without one fails.
#include <array>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "perf/constants.h"

namespace tare {
namespace {

const std::string kPage = TARE_SOURCE_DIR "/docs/step-model.md";

using Cells = std::vector<std::string>;

// The block between "<!-- constants: NAME -->" and "<!-- end -->", both lines left out.
struct Block {
  std::size_t begin = 0, end = 0;
  std::string text;
};

Block find_block(const std::string& page, const std::string& name) {
  const std::string marker = "<!-- constants: " + name + " -->\n";
  const std::size_t at = page.find(marker);
  EXPECT_NE(at, std::string::npos) << kPage << " has no block " << name;
  if (at == std::string::npos) return {};
  Block block;
  block.begin = at + marker.size();
  block.end = page.find("<!-- end -->", block.begin);
  block.text = page.substr(block.begin, block.end - block.begin);
  return block;
}

Cells cells_of(std::string_view line) {
  Cells cells;
  for (const std::string_view cell : split(line, '|')) cells.emplace_back(trim(cell));
  return cells.size() < 3 ? Cells{} : Cells(cells.begin() + 1, cells.end() - 1);
}

std::string row(const Cells& cells) { return "| " + join(cells, " | ") + " |\n"; }

// The two lines above the rows.
std::string heading_of(const Block& block) {
  const std::size_t first = block.text.find('\n');
  return block.text.substr(0, block.text.find('\n', first + 1) + 1);
}

// The last `count` cells of each row by the name in the first.
std::map<std::string, Cells> texts_of(const Block& block, std::size_t count) {
  std::map<std::string, Cells> texts;
  for (const std::string_view line : split(block.text, '\n')) {
    const Cells cells = cells_of(line);
    if (cells.size() > count) texts[cells[0]] = Cells(cells.end() - static_cast<std::ptrdiff_t>(count), cells.end());
  }
  return texts;
}

// The texts that the page has for a constant; a failure if there are none.
Cells texts_for(const std::map<std::string, Cells>& texts, const std::string& name, std::size_t count) {
  const auto found = texts.find(name);
  const bool known = found != texts.end() && !found->second[0].empty() && found->second[0] != "?";
  EXPECT_TRUE(known) << kPage << " does not say what " << name << " is";
  return found != texts.end() ? found->second : Cells(count, "?");
}

std::string shared_rows(const Block& block) {
  const std::map<std::string, Cells> texts = texts_of(block, 2);
  std::string text = heading_of(block);
  for (const NamedConstant& constant : named_constants()) {
    const std::string name = fmt::format("`{}`", constant.name);
    const Cells said = texts_for(texts, name, 2);
    text += row({name, fmt::format("{:g}", default_constants().*constant.member),
                 fmt::format("{:g} … {:g}", constant.low, constant.high), said[0], said[1]});
  }
  return text;
}

struct FixedConstant {
  const char* name;
  double StepConstants::*member;
};
constexpr std::array kFixed = {FixedConstant{"host_memory_bytes_per_s", &StepConstants::host_memory_bytes_per_s},
                               FixedConstant{"optimizer_share", &StepConstants::optimizer_share}};

std::string fixed_rows(const Block& block) {
  const std::map<std::string, Cells> texts = texts_of(block, 1);
  std::string text = heading_of(block);
  for (const FixedConstant& constant : kFixed) {
    const std::string name = fmt::format("`{}`", constant.name);
    text += row({name, fmt::format("{:g}", default_constants().*constant.member), texts_for(texts, name, 1)[0]});
  }
  return text;
}

std::string generation_rows(const Block& block) {
  std::string text = heading_of(block);
  const auto add = [&](const std::string& name, int slot) {
    const GenerationConstants& g = default_constants().generation[static_cast<std::size_t>(slot)];
    const auto number = [](double value) { return fmt::format("{:g}", value); };
    text += row({name, number(g.gemm_16bit), number(g.gemm_8bit), number(g.gemm_4bit), number(g.flash_fused),
                 number(g.flash2), number(g.tile_n)});
  };
  for (const std::string& name : generation_names()) {
    const GpuGeneration generation = parse_generation(name).value();
    add(name, generation_slot(generation, true));
    const int other = generation_slot(generation, false);
    if (other != generation_slot(generation, true)) add(name + " (consumer, PCIe)", other);
  }
  return text;
}

TEST(ConstantsDoc, ThePageHasTheValuesOfTheCode) {
  const auto read = read_file(kPage);
  ASSERT_TRUE(read) << render(read.error());
  std::string page = *read;
  const std::pair<const char*, std::string (*)(const Block&)> blocks[] = {
      {"shared", shared_rows}, {"generations", generation_rows}, {"fixed", fixed_rows}};
  for (const auto& [name, rows] : blocks) {
    const Block block = find_block(page, name);
    page.replace(block.begin, block.end - block.begin, rows(block));
  }
  if (std::getenv("TARE_UPDATE_DOCS") != nullptr) {
    ASSERT_TRUE(write_file(kPage, page));
    return;
  }
  EXPECT_TRUE(page == *read) << "TARE_UPDATE_DOCS=1 perf_test --gtest_filter='ConstantsDoc.*' mends " << kPage;
}

// A constant that is in neither list would be fitted by nobody and documented nowhere.
TEST(ConstantsDoc, EveryConstantIsNamedOrFixed) {
  const std::size_t shared = (sizeof(StepConstants) - sizeof(StepConstants::generation)) / sizeof(double);
  EXPECT_EQ(named_constants().size() + kFixed.size(), shared);
}

TEST(ConstantsDoc, ValuesLieWithinTheirBounds) {
  for (const NamedConstant& constant : named_constants()) {
    EXPECT_GE(default_constants().*constant.member, constant.low) << constant.name;
    EXPECT_LE(default_constants().*constant.member, constant.high) << constant.name;
  }
}

}  // namespace
}  // namespace tare
