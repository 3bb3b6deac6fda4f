// Each axis of a delivery by hand.
#include "perf/delivery.h"

#include <gtest/gtest.h>

#include "perf/perf_examples.h"

namespace tare {
namespace {

Catalog shipped() { return load_catalog().value(); }

void set(Catalog& c, const char* id, double base) {
  for (CostParameter& p : c.parameters) {
    if (p.id == id) p.base = base;
  }
}

Delivery delivery(const char* host, const char* packaging = "none", const char* share = "whole",
                  const char* tenancy = "dedicated") {
  return {host, packaging, share, tenancy};
}

Machine delivered(const Catalog& catalog, const Delivery& how) {
  Machine machine = test::round_machine(8);
  apply_delivery(machine, catalog, how);
  return machine;
}

TEST(Delivery, BareMetalCostsNothing) {
  const DeliveryEffect effect = delivery_effect(shipped(), delivery("bare_metal"));
  EXPECT_EQ(slowdown_ratio(effect), 0);
  EXPECT_EQ(effect.jitter_ratio, 0);
  EXPECT_EQ(effect.sync_s, 0);
  EXPECT_EQ(effect.network_slowdown_ratio, 0);
}

// 94.4 % of bare metal's throughput is 1/0.944 of its time: 5.93 % longer, not 5.6.
TEST(Delivery, ATaxOnThroughputIsMoreInTime) {
  Catalog c = shipped();
  set(c, "virt_tax_vm", 0.056);
  EXPECT_NEAR(delivery_effect(c, delivery("vm")).host_ratio, 1 / 0.944 - 1, 1e-12);
}

// What the shipped range says of whole GPUs passed through: 0, 1.5, 5.6 %, never 22.
TEST(Delivery, TheShippedRangeOfAVm) {
  const Catalog c = shipped();
  EXPECT_EQ(parameter(c, "virt_tax_vm").low, 0);
  EXPECT_EQ(parameter(c, "virt_tax_vm").base, 0.015);
  EXPECT_EQ(parameter(c, "virt_tax_vm").high, 0.056);
  EXPECT_EQ(parameter(c, "virt_tax_unknown").high, parameter(c, "virt_tax_vm").high);
  EXPECT_EQ(delivery_effect(c, delivery("unknown")).host_ratio, 0);
}

// 4 waits of 3.9 µs: 16 µs a step. Not 63 · 3.9 µs, and not once per hop of a ring.
TEST(Delivery, WaitsForTheHostArePaidByTheWait) {
  Catalog c = shipped();
  set(c, "host_syncs_per_step", 4);
  set(c, "vm_sync_latency_s", 3.9e-6);
  EXPECT_NEAR(delivery_effect(c, delivery("vm")).sync_s, 15.6e-6, 1e-15);
}

TEST(Delivery, AxesMultiply) {
  Catalog c = shipped();
  set(c, "virt_tax_vm", 0.22);
  set(c, "ct_tax", 0.18);
  // 0.78 · 0.82 = 0.6396 of the throughput: 36 % lost, not 40.
  const DeliveryEffect effect = delivery_effect(c, delivery("vm", "container"));
  EXPECT_NEAR(1 / (1 + slowdown_ratio(effect)), 0.6396, 1e-12);
}

// A third of the time less a tenth of it lost in switching: 3/0.9 times as long.
TEST(Delivery, TurnsOnAGpu) {
  Catalog c = shipped();
  set(c, "gpu_sharers", 3);
  set(c, "timeslice_tax", 0.1);
  set(c, "mps_tax", 0.25);
  EXPECT_NEAR(delivery_effect(c, delivery("bare_metal", "none", "time_slice")).gpu_share_ratio, 3 / 0.9 - 1, 1e-12);
  EXPECT_NEAR(delivery_effect(c, delivery("bare_metal", "none", "mps")).gpu_share_ratio, 3, 1e-12);
}

// 1/7 of the SMs, 1/8 of memory and bandwidth, and no NVLink.
TEST(Delivery, AMigSliceIsASmallerGpu) {
  const Machine slice = delivered(shipped(), delivery("bare_metal", "container", "mig"));
  EXPECT_NEAR(slice.peak_bf16_flops, 100e12 / 7, 1);
  EXPECT_EQ(slice.memory_bytes, 10e9);
  EXPECT_EQ(slice.in_domain.kind, LinkKind::kPcie);
  EXPECT_LT(slice.delivery.gpu_share_ratio, 0.05);
}

TEST(Delivery, NeighboursTakeHostBandwidth) {
  Catalog c = shipped();
  set(c, "shared_host_contention", 0.2);
  EXPECT_EQ(delivered(c, delivery("bare_metal", "none", "whole", "shared")).host_bytes_per_s, 20e9);
  EXPECT_EQ(delivered(c, delivery("bare_metal")).host_bytes_per_s, 25e9);
}

TEST(Delivery, TheShippedCatalogHasItsParameters) {
  const Catalog c = shipped();
  for (const std::string& id : delivery_parameter_ids()) EXPECT_NE(find_parameter(c, id), nullptr) << id;
}

}  // namespace
}  // namespace tare
