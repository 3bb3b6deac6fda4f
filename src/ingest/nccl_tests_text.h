// The tables that nccl-tests, rccl-tests and AWS' nccom-test print. docs/read/nccl-tests.md says what becomes of them.
#pragma once

#include <memory>

#include "ingest/format.h"

namespace tare {

int recognise_nccl_tests(const Head& head);
std::unique_ptr<LineReader> open_nccl_tests();

int recognise_nccom_test(const Head& head);
std::unique_ptr<LineReader> open_nccom_test();

}  // namespace tare
