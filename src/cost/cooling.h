// Air against liquid: compared by the facility's energy for the same work, never by PUE alone.
//
//   overhead_kwh  = IT power · (PUE − 1) · hours ÷ 1000         cooling, UPS, PDU and lights together, not cooling
//   alone facility_kwh  = IT power · PUE · hours ÷ 1000 liquid at equal IT work: the rack's IT power falls by its fans
//   (liquid_it_saving), hence IT · (1 − saving) · PUE. PUE divides by IT power, so taking fans out of IT makes the
//   ratio look worse while the energy falls.
// Worked example, a rack of eight H100 rated 10.2 kW for a year: air 1.42: 126.9 MWh, of which 37.5 overhead; liquid
// 1.08 with 7 % less IT power: 89.7 MWh, of which 6.6 overhead.
// Thread safety: pure functions.
#pragma once

namespace tare {

struct Cooling {
  double it_w = 0;       // of the rack as it is air-cooled
  double pue = 1;        // of the hall
  double it_saving = 0;  // share of IT power that this way of cooling saves (fans)
  double hours = 8760;
  double usd_per_kwh = 0;
};

struct CoolingResult {
  double it_kwh = 0;
  double overhead_kwh = 0;
  double facility_kwh = 0;
  double overhead_usd = 0;
  double facility_usd = 0;
};

CoolingResult facility_energy(const Cooling& cooling);

}  // namespace tare
