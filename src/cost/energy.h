// The energy of a run's billed hours, rented or owned, and what of it a token takes.
//
//   IT kWh        = (E + nodes · rating · idle · (held − wall) + GPUs · switches · held) · (1 − saving) ÷ 3.6e6
//                   E the run's IT energy (run.it_energy_j), held the seconds that each GPU is billed for, saving what
//                   liquid cooling takes off the servers' fans; power supply loss is inside the rating
//   energy kWh    = IT kWh · PUE                    UPS, PDU, cooling: inside the PUE, never multiplied again
//   CO2e kg       = energy kWh · grid intensity ÷ 1000
//   J per token   = E · (1 − saving) ÷ tokens
// Cooling: liquid where the owner says so, and where one link domain of several nodes is denser than air can cool (an
// NVL72 rack; its rating is that of a liquid-cooled machine and takes no saving); air elsewhere.
//
// The floor. A token takes at least its model FLOPs at the chip's dense peak, and an FLOP at least `energy_floor_ratio`
// of TDP ÷ dense peak, the best that lower clocks and voltages reach: floor = FLOPs per token ÷ peak · TDP · ratio. The
// whole server cannot draw less than its chips. An estimate below it has a wrong rating behind it and is refused.
// Worked example: Llama-2-7B, 40.4e9 FLOPs a token, H100 of 989e12 FLOP/s and 700 W: 28.6 mJ at TDP, floor 14.3 mJ; a
// published 12.8 mJ cannot be.
// Thread safety: reads only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cost/held_hours.h"
#include "run/node_power.h"

namespace tare {

// How the cluster is cooled, with what follows from it.
struct CoolingChoice {
  bool liquid = false;
  bool saves_fans = false;  // servers rated for air that are cooled by liquid
  RangedInput pue;          // "pue"
};
CoolingChoice cooling_of(const BillInput& input, const Catalog& catalog);

// The IT energy of the billed hours: an expression in kWh and its inputs. nullopt: the power of a node is not known.
struct EnergyDraft {
  std::string expression;
  std::vector<RangedInput> inputs;
};
std::optional<EnergyDraft> it_energy(const BillInput& input, const HeldHours& held, const Catalog& catalog);

// "bill.joules_per_token_floor"; nullopt: the model's FLOPs, the peak or the TDP are not known.
std::optional<Formula> energy_floor(const BillInput& input, const Catalog& catalog);

// Why the estimate is physically impossible; nullopt: it is not, or cannot be told.
std::optional<std::string> impossible_energy(const BillInput& input, const Catalog& catalog);

// Sets it_kwh, energy_kwh, co2e_kg and joules_per_token with their formulas, as far as they are known and possible.
void add_energy(Bill& bill, const BillInput& input, const HeldHours& held, const Catalog& catalog);

}  // namespace tare
