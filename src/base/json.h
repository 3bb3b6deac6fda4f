// The one JSON value type. Include this in .cc files only: the header behind it is heavy; headers use json_fwd.h.
#pragma once

#include <nlohmann/json.hpp>

#include "base/json_fwd.h"
