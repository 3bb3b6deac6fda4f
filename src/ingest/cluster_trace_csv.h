// Lists of pods, nodes and jobs as published cluster traces have them: Alibaba's openb (name, cpu_milli, memory_mib,
// num_gpu, gpu_milli, …; sn, …, gpu, model), PAI (plan_gpu), Philly and Helios (num_gpus, duration).
#pragma once

#include "ingest/format.h"

namespace tare {

Format cluster_trace_csv_format();

}  // namespace tare
