#include "ingest/step_keys.h"

#include <array>
#include <vector>

namespace tare {
namespace {

constexpr StepUnit kMs{"ms", 1e-3};
constexpr StepUnit kS{"s", 1};
constexpr StepUnit kHours{"h", 3600};
constexpr StepUnit kGb{"gb", 1e9};
constexpr StepUnit kMb{"mb", 1e6};
constexpr StepUnit kGib{"gib", 1024.0 * 1024 * 1024};
constexpr StepUnit kMib{"mib", 1024.0 * 1024};
constexpr StepUnit kPercentUnit{"percent", 0.01};
constexpr StepUnit kNo{};
constexpr bool kNeedsUnit = true;
constexpr bool kBare = true;

constexpr StepSlot kTime = slot_of(StepField::kStepTime);
constexpr StepSlot kAverage = slot_of(StepField::kAverageStepTime);
constexpr StepSlot kElapsed = slot_of(StepField::kElapsed);
constexpr StepSlot kData = slot_of(StepField::kDataTime);
constexpr StepSlot kUpdate = slot_of(StepField::kUpdateTime);
constexpr StepSlot kComm = slot_of(StepField::kCommTime);
constexpr StepSlot kTokens = slot_of(StepField::kTokensPerS);
constexpr StepSlot kTokensGpu = slot_of(StepField::kTokensPerSPerGpu);
constexpr StepSlot kSamples = slot_of(StepField::kSamplesPerS);
constexpr StepSlot kSteps = slot_of(StepField::kStepsPerS);
constexpr StepSlot kTflops = slot_of(StepField::kTflopsPerGpu);
constexpr StepSlot kMfu = slot_of(StepField::kMfu);
constexpr StepSlot kLoss = slot_of(StepField::kLoss);
constexpr StepSlot kEval = slot_of(StepField::kEvalLoss);
constexpr StepSlot kNorm = slot_of(StepField::kGradNorm);
constexpr StepSlot kRate = slot_of(StepField::kLearningRate);
constexpr StepSlot kScale = slot_of(StepField::kLossScale);
constexpr StepSlot kBatch = slot_of(StepField::kGlobalBatch);
constexpr StepSlot kSeenSamples = slot_of(StepField::kConsumedSamples);
constexpr StepSlot kSeenTokens = slot_of(StepField::kConsumedTokens);
constexpr StepSlot kSkipped = slot_of(StepField::kSkipped);
constexpr StepSlot kNan = slot_of(StepField::kNanIterations);
constexpr StepSlot kAllocated = slot_of(StepField::kMemoryAllocated);
constexpr StepSlot kPeak = slot_of(StepField::kMemoryPeak);
constexpr StepSlot kReserved = slot_of(StepField::kMemoryReserved);
constexpr StepSlot kEpoch = slot_of(StepField::kEpoch);

// In the order of run_fact_names().
enum Run : StepSlot {
  kGpus = kRunSlot,
  kNodes,
  kGpusPerNode,
  kTp,
  kPp,
  kDp,
  kCp,
  kEp,
  kVpp,
  kSp,
  kRunBatch,
  kMicroBatch,
  kAccumulation,
  kSequence,
  kLayers,
  kHidden,
  kFfn,
  kHeads,
  kKvHeads,
  kVocabulary,
  kExperts,
  kParams,
  kParamsBillion,
  kParamsMillion,
  kTrainable,
  kTotalSteps,
  kEpochs,
  kExamples,
  kZero,
  kTrainSamples,
  kLogEvery,
};

static_assert(kParams == kParamsSlot);

constexpr StepKey key(std::string_view name, StepSlot slot, StepUnit unit = kNo, bool needs_unit = false,
                      bool bare = false, double scale = 1) {
  return {name, slot, unit, needs_unit, bare, scale};
}

constexpr StepKey kKeys[] = {
    key("step", kStepSlot, kNo, false, kBare),
    key("steps", kStepSlot),
    key("iteration", kStepSlot, kNo, false, kBare),
    key("iter", kStepSlot, kNo, false, kBare),
    key("it", kStepSlot),
    key("batch", kStepSlot, kNo, false, kBare),
    key("globalstep", kStepSlot, kNo, false, kBare),
    key("globalsteps", kStepSlot),
    key("completedstep", kStepSlot),
    key("trainstep", kStepSlot),
    key("trainingstep", kStepSlot),
    key("currentstep", kStepSlot),
    key("currentsteps", kStepSlot),
    key("curstep", kStepSlot),
    key("optimizerstep", kStepSlot),
    key("optstep", kStepSlot),
    key("updatestep", kStepSlot),
    key("numupdates", kStepSlot),
    key("stepnum", kStepSlot),
    key("stepidx", kStepSlot),
    key("iterations", kStepSlot),
    key("iternum", kStepSlot),
    key("_step", kStepSlot),
    key("totalsteps", kTotalSteps),
    key("microstep", kMicroSlot),
    key("rank", kRankSlot),
    key("globalrank", kRankSlot),
    key("timestamp", kTimeSlot),
    key("ts", kTimeSlot),
    key("walltime", kTimeSlot),

    key("steptime", kTime),
    key("steptimes", kTime, kS),
    key("steptime(s)", kTime, kS),
    key("steptime(ms)", kTime, kMs),
    key("steptimems", kTime, kMs),
    key("steptimesec", kTime, kS),
    key("steptimesecs", kTime, kS),
    key("steptimeseconds", kTime, kS),
    key("steptimeinseconds", kTime, kS),
    key("stepms", kTime, kMs),
    key("stepsec", kTime, kS),
    key("stepseconds", kTime, kS),
    key("stepduration", kTime),
    key("stepdurations", kTime, kS),
    key("stepdurationms", kTime, kMs),
    key("steplatency", kTime),
    key("steplatencyms", kTime, kMs),
    key("timeperstep", kTime),
    key("timepersteps", kTime, kS),
    key("timeperstepms", kTime, kMs),
    key("timeperiteration", kTime),
    key("timeperiter", kTime),
    key("timeperbatch", kTime),
    key("time/step", kTime),
    key("timings/step", kTime, kS),
    key("perf/timeperstep", kTime, kS),
    key("secperstep", kTime, kS),
    key("secondsperstep", kTime, kS),
    key("sec/step", kTime, kS),
    key("s/step", kTime, kS),
    key("msperstep", kTime, kMs),
    key("ms/step", kTime, kMs),
    key("sperit", kTime, kS),
    key("s/it", kTime, kS),
    key("sec/it", kTime, kS),
    key("sec/iter", kTime, kS),
    key("itertime", kTime, kNo),
    key("itertime(s)", kTime, kS),
    key("itertime(ms)", kTime, kMs),
    key("itertimes", kTime, kS),
    key("itertimems", kTime, kMs),
    key("iterms", kTime, kMs),
    key("iterationtime", kTime),
    key("iterationtime(s)", kTime, kS),
    key("iterationtime(ms)", kTime, kMs),
    key("iterationtimes", kTime, kS),
    key("iterationtimems", kTime, kMs),
    key("elapsedtimeperiteration(ms)", kTime, kMs),
    key("elapsedtimeperiteration(s)", kTime, kS),
    key("elapsedtimeperiterationms", kTime, kMs),
    key("elapsedtimeperiterations", kTime, kS),
    key("elapsedtimeperiteration", kTime),
    key("trainsteptiminginss", kTime, kS),
    key("trainsteptimingins", kTime, kS),
    key("trainsteptiming", kTime, kS),
    key("trainsteptime", kTime),
    key("trainingsteptime", kTime),
    key("timemetrics/endtoend(s)", kTime, kS),
    key("endtoend(s)", kTime, kS),
    key("batchtime", kTime),
    key("batchtimes", kTime, kS),
    key("batchtimems", kTime, kMs),
    key("intervalruntime", kTime, kS),
    key("perf/steptimeseconds", kTime, kS),
    key("time", kTime, kNo, kNeedsUnit, kBare),
    key("dt", kTime, kNo, kNeedsUnit, kBare),
    key("dtms", kTime, kMs),
    key("duration", kTime, kNo, kNeedsUnit),
    key("durationms", kTime, kMs),
    key("durations", kTime, kS),
    key("seconds", kTime, kS),
    key("globalsteptime", kTime),
    key("lasttime", kTime, kS),

    key("trainspeed(s/it)", kTime, kS),

    key("stepavg", kAverage, kNo, kNeedsUnit),
    key("avgsteptime", kAverage),
    key("avgsteptimes", kAverage, kS),
    key("avgsteptimems", kAverage, kMs),
    key("averagesteptime", kAverage),
    key("avgitertime", kAverage),
    key("avgduration", kAverage, kS),
    key("traintime", kElapsed, kNo, kNeedsUnit),
    key("elapsed", kElapsed),
    key("elapseds", kElapsed, kS),
    key("elapsedtime", kElapsed),
    key("elapsedtimes", kElapsed, kS),
    key("elapsedms", kElapsed, kMs),
    key("totaltime", kElapsed, kNo, kNeedsUnit),
    key("wall", kElapsed, kS),
    key("_runtime", kElapsed, kS),
    key("runtime", kElapsed, kS),
    key("time/train", kElapsed, kHours),
    key("wallclock/train", kElapsed, kS),
    key("totaltrainingtime", kElapsed, kNo, kNeedsUnit),

    key("datatime", kData),
    key("datatimes", kData, kS),
    key("datatimems", kData, kMs),
    key("datas", kData, kS),
    key("data", kData, kNo, kNeedsUnit, kBare),
    key("dataloadtime", kData),
    key("dataloadtimems", kData, kMs),
    key("dataloadms", kData, kMs),
    key("dataloadingtime", kData),
    key("dataloadertime", kData),
    key("datawaittime", kData),
    key("datawaitms", kData, kMs),
    key("datawaits", kData, kS),
    key("timemetrics/dataloading(s)", kData, kS),
    key("dataloading(s)", kData, kS),
    key("batchloadtime", kData),
    key("updts", kUpdate, kS),
    key("updatetime", kUpdate),
    key("updates", kUpdate, kS),
    key("allreducetime", kComm),
    key("allreducetimems", kComm, kMs),
    key("allreducetimes", kComm, kS),
    key("allreducems", kComm, kMs),
    key("gradsynctime", kComm),
    key("gradsynctimems", kComm, kMs),
    key("gradsynctimes", kComm, kS),
    key("gradsyncms", kComm, kMs),
    key("commtime", kComm),
    key("commtimems", kComm, kMs),
    key("commtimes", kComm, kS),
    key("commms", kComm, kMs),
    key("communicationtime", kComm),
    key("communicationtimems", kComm, kMs),
    key("communicationtimes", kComm, kS),
    key("communicationms", kComm, kMs),
    key("synctime", kComm),
    key("synctimems", kComm, kMs),
    key("synctimes", kComm, kS),
    key("syncms", kComm, kMs),

    key("tokenspersecond", kTokens),
    key("tokenspersec", kTokens),
    key("tokenspers", kTokens),
    key("tokens/s", kTokens),
    key("tokens/sec", kTokens),
    key("tokens/second", kTokens),
    key("toks/s", kTokens),
    key("tok/s", kTokens),
    key("tok/sec", kTokens),
    key("tokspersec", kTokens),
    key("tokpersec", kTokens),
    key("tps", kTokens, kNo, false, kBare),
    key("wps", kTokens),
    key("trainingtokenspersecond", kTokens),
    key("traintokenspersecond", kTokens),
    key("throughput(tps)", kTokens),
    key("throughput/tokenspersec", kTokens),
    key("throughput(tokens/s)", kTokens),
    key("throughput(tokens/sec)", kTokens),
    key("throughputtokenspersec", kTokens),
    key("tokenthroughput", kTokens),
    key("tokenthroughputpersec", kTokens),
    key("globalthroughput", kTokens),
    key("perf/throughput", kTokensGpu),
    key("intervaltokenspersecond", kTokens),
    key("totaltokenspersec", kTokens),
    key("tokensps", kTokens),
    key("tokenspersecondpergpu", kTokensGpu),
    key("tokenspersecpergpu", kTokensGpu),
    key("tokenspergpupersecond", kTokensGpu),
    key("tokenspergpupersec", kTokensGpu),
    key("tokenspersecperdevice", kTokensGpu),
    key("tokenspersecondperdevice", kTokensGpu),
    key("tokenspersecondperchip", kTokensGpu),
    key("tokensperspergpu", kTokensGpu),
    key("tokens/s/device", kTokensGpu),
    key("tokens/s/gpu", kTokensGpu),
    key("tokens/s/chip", kTokensGpu),
    key("tokens/sec/gpu", kTokensGpu),
    key("tokens/sec/device", kTokensGpu),
    key("tokens/gpu/s", kTokensGpu),
    key("tokens/gpu/sec", kTokensGpu),
    key("tokens/gpu/second", kTokensGpu),
    key("tok/s/gpu", kTokensGpu),
    key("tps/gpu", kTokensGpu),
    key("tpspergpu", kTokensGpu),
    key("tgs", kTokensGpu),
    key("tgs(tokens/gpu/second)", kTokensGpu),
    key("tgs(tokens/gpu/s)", kTokensGpu),
    key("throughput/device/tokenspersec", kTokensGpu),
    key("throughput/device/tokenspersecond", kTokensGpu),
    key("device/tokenspersecond", kTokensGpu),
    key("perf/pertokenspersecpergpu", kTokensGpu),
    key("intervaltokenspersecondperdevice", kTokensGpu),

    key("samplespersecond", kSamples),
    key("samplespersec", kSamples),
    key("samplespers", kSamples),
    key("sampless", kSamples),
    key("samples/s", kSamples),
    key("samples/sec", kSamples),
    key("samples/second", kSamples),
    key("sps", kSamples),
    key("currsamplespersec", kSamples),
    key("trainsamplespersecond", kSamples),
    key("intervalsamplespersecond", kSamples),
    key("throughput/samplespersec", kSamples),
    key("throughput(samples/s)", kSamples),
    key("throughput(samples/sec)", kSamples),
    key("examplespersecond", kSamples),
    key("examples/s", kSamples),
    key("examples/sec", kSamples),
    key("sequencespersecond", kSamples),
    key("sequences/s", kSamples),
    key("seqs/s", kSamples),
    key("seq/s", kSamples),
    key("imagespersecond", kSamples),
    key("imagespersec", kSamples),
    key("images/s", kSamples),
    key("images/sec", kSamples),
    key("imgs/s", kSamples),
    key("img/s", kSamples),
    key("ips", kSamples),
    key("avgthroughput", kSamples),
    key("speed", kSamples, kNo, kNeedsUnit),
    key("throughput", kSamples, kNo, kNeedsUnit),

    key("stepspersecond", kSteps),
    key("stepspersec", kSteps),
    key("steps/s", kSteps),
    key("steps/sec", kSteps),
    key("it/s", kSteps),
    key("itpersec", kSteps),
    key("iterspersec", kSteps),
    key("iterationspersecond", kSteps),
    key("iterations/s", kSteps),
    key("batchespersec", kSteps),
    key("batchespersecond", kSteps),
    key("throughput/batchespersec", kSteps),
    key("trainstepspersecond", kSteps),
    key("intervalstepspersecond", kSteps),
    key("ups", kSteps),
    key("trainspeed(iter/s)", kSteps),
    key("rate", kSteps, kNo, kNeedsUnit),

    key("tflops", kTflops, kNo, false, kBare),
    key("tflop/s", kTflops),
    key("tflops/s", kTflops),
    key("tflops/gpu", kTflops),
    key("tflopspergpu", kTflops),
    key("tflop/s/device", kTflops),
    key("tflop/s/gpu", kTflops),
    key("tflops/device", kTflops),
    key("throughputpergpu(tflop/s/gpu)", kTflops),
    key("throughput(tflop/s/gpu)", kTflops),
    key("modeltflopspergpu", kTflops),
    key("modeltflops", kTflops),
    key("effectiveteraflopspergpu", kTflops),
    key("approxflopspergpu", kTflops),
    key("tflopspergpubymegatron", kTflops),
    key("achievedtflops", kTflops),
    key("flops", kTflops, kNo, kNeedsUnit),
    key("throughput/device/flopspersec", kTflops, kNo, false, false, 1e-12),
    key("gpuutilization", kTflops, kNo, kNeedsUnit),
    key("perstepdevicetflops", kTflops),
    key("pertflopspergpu", kTflops),
    key("perf/tflopspergpu", kTflops),
    key("perf/perdevicetflopspersec", kTflops),

    key("mfu", kMfu, kNo, false, kBare),
    key("mfu(%)", kMfu, kPercentUnit),
    key("mfu%", kMfu, kPercentUnit),
    key("mfupct", kMfu, kPercentUnit),
    key("mfupercent", kMfu, kPercentUnit),
    key("throughput/device/mfu", kMfu),
    key("perf/mfu", kMfu),
    key("perf/mfu/actor", kMfu),
    key("hfu", kMfu),

    key("loss", kLoss, kNo, false, kBare),
    key("lmloss", kLoss),
    key("trainloss", kLoss, kNo, false, kBare),
    key("trainingloss", kLoss),
    key("losstrain", kLoss),
    key("totalloss", kLoss),
    key("reducedtrainloss", kLoss),
    key("globalavgloss", kLoss),
    key("lossmetrics/globalavgloss", kLoss),
    key("loss/train/total", kLoss),
    key("train/loss", kLoss),
    key("train/crossentropyloss", kLoss),
    key("train/celoss", kLoss),
    key("mlmloss", kLoss),
    key("batchloss", kLoss),
    key("avgloss", kLoss),
    key("steploss", kLoss),
    key("losssum", kLoss),
    key("valloss", kEval, kNo, false, kBare),
    key("evalloss", kEval),
    key("validloss", kEval),
    key("validationloss", kEval),
    key("testloss", kEval),
    key("lmlossvalue", kEval),
    key("val", kEval),

    key("gradnorm", kNorm, kNo, false, kBare),
    key("gradientnorm", kNorm),
    key("globalgradnorm", kNorm),
    key("grdn", kNorm),
    key("gnorm", kNorm),
    key("norm", kNorm, kNo, false, kBare),
    key("totalgradnorm", kNorm),
    key("gradsnorm", kNorm),

    key("learningrate", kRate),
    key("lr", kRate, kNo, false, kBare),
    key("learningrate/group0", kRate),
    key("lossscale", kScale),
    key("scale", kScale),

    key("globalbatchsize", kBatch),
    key("globalbatch", kBatch),
    key("gbs", kBatch),
    key("numsamplesinbatch", kBatch),
    key("consumedsamples", kSeenSamples),
    key("consumedtrainsamples", kSeenSamples),
    key("samplesseen", kSeenSamples),
    key("smpl", kSeenSamples),
    key("consumedtokens", kSeenTokens),
    key("consumedtraintokens", kSeenTokens),
    key("numconsumedtokens", kSeenTokens),
    key("numinputtokensseen", kSeenTokens),
    key("numtokens", kSeenTokens),
    key("ntokensseen", kSeenTokens),
    key("tokensseen", kSeenTokens),
    key("totaltokens", kSeenTokens),
    key("throughput/totaltokens", kSeenTokens),
    key("numberofskippediterations", kSkipped),
    key("skipped", kSkipped),
    key("skippediterations", kSkipped),
    key("infnanskipbatches", kSkipped),
    key("numberofnaniterations", kNan),
    key("naniterations", kNan),

    key("memory", kAllocated, kNo, kNeedsUnit),
    key("memory(gib)", kAllocated, kGib),
    key("mem", kAllocated, kNo, kNeedsUnit, kBare),
    key("gpumem", kAllocated),
    key("gpumemgb", kAllocated, kGb),
    key("gpumemorygb", kAllocated, kGb),
    key("memorygb", kAllocated, kGb),
    key("memgb", kAllocated, kGb),
    key("memorymb", kAllocated, kMb),
    key("memmb", kAllocated, kMb),
    key("memallocated", kAllocated),
    key("memoryallocated", kAllocated),
    key("memoryallocatedgb", kAllocated, kGb),
    key("allocatedmem", kAllocated, kGb),
    key("cudamemoryallocated", kAllocated),
    key("currentmemoryallocated", kAllocated),
    key("allocated", kAllocated, kNo, kNeedsUnit),
    key("maxmemallocated", kPeak),
    key("maxmemoryallocated", kPeak),
    key("maxallocated", kPeak, kNo, kNeedsUnit),
    key("maxmem", kPeak, kNo, kNeedsUnit),
    key("maxmemgb", kPeak, kGb),
    key("maxmemorygb", kPeak, kGb),
    key("peakmem", kPeak),
    key("peakmemory", kPeak),
    key("peakmemoryallocated", kPeak),
    key("peakmemoryalloc", kPeak),
    key("peakmemoryreserved", kReserved),
    key("peakmemgb", kPeak, kGb),
    key("peakmemorygb", kPeak, kGb),
    key("peakmemorygib", kPeak, kGib),
    key("peakmemorymb", kPeak, kMb),
    key("peakmemorymib", kPeak, kMib),
    key("maxmemorymb", kPeak, kMb),
    key("maxcudamemoryusage", kPeak),
    key("peakallocatedmem", kPeak, kGb),
    key("memory/maxactive(gib)", kPeak, kGib),
    key("memory/maxmemactive(gib)", kPeak, kGib),
    key("memory/maxmemallocated(gib)", kPeak, kGib),
    key("memory/devicememreserved(gib)", kReserved, kGib),
    key("memory/maxreserved(gib)", kReserved, kGib),
    key("perf/maxmemoryallocatedgb", kPeak, kGb),
    key("perf/maxmemoryreservedgb", kReserved, kGb),
    key("reserved", kReserved, kNo, kNeedsUnit),
    key("reservedmem", kReserved, kGb),
    key("peakreservedmem", kReserved, kGb),
    key("maxmemoryreserved", kReserved),
    key("cudamaxmemoryreserved", kReserved),
    key("memoryreserved", kReserved),
    key("currentmemoryreserved", kReserved),
    key("epoch", kEpoch, kNo, false, kBare),
    key("epch", kEpoch),
    key("progressorepoch", kEpoch),

    // The run as a whole.
    key("worldsize", kGpus),
    key("numgpus", kGpus),
    key("ngpus", kGpus),
    key("ngpu", kGpus),
    key("totalgpus", kGpus),
    key("numberofgpus", kGpus),
    key("numdevices", kGpus),
    key("numberofdevices", kGpus),
    key("numprocesses", kGpus),
    key("dataparallelgpus", kDp),
    key("numnodes", kNodes),
    key("nnodes", kNodes),
    key("slurmnnodes", kNodes),
    key("slurmjobnumnodes", kNodes),
    key("gpuspernode", kGpusPerNode),
    key("ngpuspernode", kGpusPerNode),
    key("nprocpernode", kGpusPerNode),
    key("localworldsize", kGpusPerNode),
    key("tensormodelparallelsize", kTp),
    key("tensorparallelsize", kTp),
    key("tensorparalleldegree", kTp),
    key("modelparallelsize", kTp),
    key("tpsize", kTp),
    key("tp", kTp),
    key("pipelinemodelparallelsize", kPp),
    key("pipelineparallelsize", kPp),
    key("pipelineparalleldegree", kPp),
    key("pipeparallelsize", kPp),
    key("ppsize", kPp),
    key("pp", kPp),
    key("dataparallelsize", kDp),
    key("dataparalleldegree", kDp),
    key("dpsize", kDp),
    key("dp", kDp),
    key("contextparallelsize", kCp),
    key("contextparalleldegree", kCp),
    key("cpsize", kCp),
    key("expertmodelparallelsize", kEp),
    key("expertparallelsize", kEp),
    key("expertparalleldegree", kEp),
    key("virtualpipelinemodelparallelsize", kVpp),
    key("sequenceparallelsize", kSp),
    key("trainbatchsize", kRunBatch),
    key("totaltrainbatchsize", kRunBatch),
    key("totaltrainbatchsize(w/parallel,distributed&accumulation)", kRunBatch),
    key("totalbatchsize", kRunBatch),
    key("effectivebatchsize", kRunBatch),
    key("microbatchsize", kMicroBatch),
    key("trainmicrobatchsizepergpu", kMicroBatch),
    key("perdevicetrainbatchsize", kMicroBatch),
    key("instantaneousbatchsizeperdevice", kMicroBatch),
    key("batchsizeperdevice", kMicroBatch),
    key("localbatchsize", kMicroBatch),
    key("gradientaccumulationsteps", kAccumulation),
    key("gradaccumsteps", kAccumulation),
    key("gradientaccumulation", kAccumulation),
    key("accumulategradbatches", kAccumulation),
    key("seqlength", kSequence),
    key("seqlen", kSequence),
    key("sequencelength", kSequence),
    key("sequencelen", kSequence),
    key("maxseqlength", kSequence),
    key("maxseqlen", kSequence),
    key("maxsequencelength", kSequence),
    key("encoderseqlength", kSequence),
    key("actualseqlen", kSequence),
    key("cutofflen", kSequence),
    key("blocksize", kSequence),
    key("maxcontextwidth", kSequence),
    key("numlayers", kLayers),
    key("nlayer", kLayers),
    key("nlayers", kLayers),
    key("numhiddenlayers", kLayers),
    key("hiddensize", kHidden),
    key("hiddenwidth", kHidden),
    key("nembd", kHidden),
    key("dmodel", kHidden),
    key("ffnhiddensize", kFfn),
    key("intermediatesize", kFfn),
    key("numattentionheads", kHeads),
    key("numheads", kHeads),
    key("nhead", kHeads),
    key("nheads", kHeads),
    key("numkeyvalueheads", kKvHeads),
    key("numquerygroups", kKvHeads),
    key("vocabsize", kVocabulary),
    key("paddedvocabsize", kVocabulary),
    key("numexperts", kExperts),
    key("nummoeexperts", kExperts),
    key("numlocalexperts", kExperts),
    key("totalparameters", kParams, kNo, false, kBare),
    key("totalparams", kParams),
    key("numberofparameters", kParams),
    key("numberparameters", kParams),
    key("numparameters", kParams),
    key("numparams", kParams),
    key("nparams", kParams),
    key("modelparameters", kParams),
    key("totalnumberofparameters", kParams),
    key("totalnumberofparametersinbillions", kParamsBillion),
    key("numberofparametersinbillions", kParamsBillion),
    key("numberoftrainableparameters", kTrainable),
    key("trainableparameters", kTrainable),
    key("trainableparams", kTrainable),
    key("totaloptimizationsteps", kTotalSteps),
    key("trainiters", kTotalSteps),
    key("maxsteps", kTotalSteps),
    key("maxiters", kTotalSteps),
    key("totaltrainingsteps", kTotalSteps),
    key("numtrainingsteps", kTotalSteps),
    key("numepochs", kEpochs),
    key("numtrainepochs", kEpochs),
    key("numexamples", kExamples),
    key("zerostage", kZero),
    key("zerooptimizationstage", kZero),
    key("trainsamples", kTrainSamples),
    key("loggingsteps", kLogEvery),
    key("loginterval", kLogEvery),
    key("loggingfreq", kLogEvery),
    key("stepsperprint", kLogEvery),
};
constexpr StepKey kEvalLossKey{"eval/loss", kEval, {}, false, false, 1};

constexpr std::size_t kLongest = 64;

std::uint32_t hash_of(std::string_view text) {
  std::uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash ^ (hash >> 15);
}

// Open addressing over the table above.
class KeyTable {
 public:
  KeyTable() : slots_(kSize, -1) {
    for (std::size_t i = 0; i < std::size(kKeys); ++i) {
      std::size_t at = hash_of(kKeys[i].name) & (kSize - 1);
      while (slots_[at] >= 0) at = (at + 1) & (kSize - 1);
      slots_[at] = static_cast<std::int16_t>(i);
    }
  }
  const StepKey* find(std::string_view name) const {
    for (std::size_t at = hash_of(name) & (kSize - 1); slots_[at] >= 0; at = (at + 1) & (kSize - 1)) {
      const StepKey& key = kKeys[static_cast<std::size_t>(slots_[at])];
      if (key.name == name) return &key;
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kSize = 2048;
  static_assert(std::size(kKeys) < kSize / 2);
  std::vector<std::int16_t> slots_;
};

bool is_evaluation(std::string_view part) {
  return part == "eval" || part == "val" || part == "valid" || part == "validation" || part == "test" ||
         part == "evaluation";
}

}  // namespace

const StepKey* find_step_key(std::string_view name) {
  static const KeyTable table;
  std::array<char, kLongest> buffer;
  std::size_t size = 0;
  if (name.size() > 2 * kLongest) return nullptr;
  for (const char c : name) {
    if (c == ' ' || c == '-' || c == '\'' || c == '"' || c == '\t' || c == '`' || c == '*') continue;
    if (c == '_' && size > 0) continue;
    if (size == buffer.size()) return nullptr;
    buffer[size++] = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c == '.' ? '/' : c;
  }
  const std::string_view whole(buffer.data(), size);
  if (whole.empty()) return nullptr;
  if (const StepKey* const known = table.find(whole)) return known;
  const std::size_t slash = whole.rfind('/');
  if (slash == std::string_view::npos) return whole.front() == '_' ? table.find(whole.substr(1)) : nullptr;
  const StepKey* const last = table.find(whole.substr(slash + 1));
  bool evaluation = false;
  for (std::string_view left = whole.substr(0, slash); !left.empty();) {
    const std::size_t end = std::min(left.find('/'), left.size());
    evaluation = evaluation || is_evaluation(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  if (!evaluation) return last;
  return last != nullptr && last->slot == kLoss       ? &kEvalLossKey
         : last != nullptr && last->slot == kStepSlot ? last
                                                      : nullptr;
}

}  // namespace tare
