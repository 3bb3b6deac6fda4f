#include "cost/cooling.h"

namespace tare {

CoolingResult facility_energy(const Cooling& c) {
  CoolingResult result;
  result.it_kwh = c.it_w * (1 - c.it_saving) * c.hours / 1000;
  result.overhead_kwh = result.it_kwh * (c.pue - 1);
  result.facility_kwh = result.it_kwh + result.overhead_kwh;
  result.overhead_usd = result.overhead_kwh * c.usd_per_kwh;
  result.facility_usd = result.facility_kwh * c.usd_per_kwh;
  return result;
}

}  // namespace tare
