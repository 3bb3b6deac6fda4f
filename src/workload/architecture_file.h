// [job.architecture]: the dimensions of a model that the catalog does not have, under the names of models.csv.
#pragma once

#include "base/toml_document.h"
#include "catalog/model_architecture.h"

namespace tare {

// What is wrong or inconsistent is reported in the table's document.
ModelArchitecture read_architecture(TomlTable& table);

}  // namespace tare
