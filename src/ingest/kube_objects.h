// Kubernetes objects, from JSON or YAML, whole or in pieces: nodes, pods, jobs of the training operators, events.
// Thread safety: pure functions.
#pragma once

#include "ingest/kube_facts.h"

namespace tare {

// Takes one object: one with a `kind`, or a piece that shows by its members what it is of (status, labels, containers).
// False when it is nothing known.
bool take_kube_object(const FactRecord& object, KubeFacts& facts);

}  // namespace tare
