#include "ingest/bounded_fact.h"

namespace tare {
namespace {

constexpr std::size_t kMembers = 1000;
constexpr std::size_t kItems = 500;
constexpr int kLevels = 6;

Fact copy(const Fact& fact, int level);

FactRecord copy(const FactRecord& record, int level) {
  FactRecord into(record.line);
  for (const auto& [name, value] : record.members()) {
    if (into.members().size() >= kMembers) {
      into.add("left_out", Fact::of(static_cast<std::int64_t>(record.members().size() - kMembers), record.line));
      break;
    }
    into.add(name, copy(value, level + 1));
  }
  return into;
}

Fact copy(const Fact& fact, int level) {
  if (level > kLevels) return Fact::unknown(fact.line);
  if (const FactRecord* const record = fact.as_record()) return Fact::of(copy(*record, level));
  const std::vector<Fact>* const list = fact.as_list();
  if (list == nullptr) return fact;
  std::vector<Fact> items;
  for (const Fact& item : *list) {
    if (items.size() >= kItems) break;
    items.push_back(copy(item, level + 1));
  }
  return Fact::of(std::move(items), fact.line);
}

}  // namespace

Fact bounded(const Fact& fact) { return copy(fact, 0); }
FactRecord bounded(const FactRecord& record) { return copy(record, 0); }

}  // namespace tare
