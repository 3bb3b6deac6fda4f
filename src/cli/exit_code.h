// What the process says to its caller.
#pragma once

namespace tare {

enum class ExitCode : int {
  kYes = 0,       // answered
  kNo = 1,        // the answer is no: nothing meets deadline and budget, a gate is passed over
  kWrongUse = 2,  // the command line or an input is wrong
  kInterrupted = 130,
};

}  // namespace tare
