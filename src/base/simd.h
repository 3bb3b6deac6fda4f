// Loops that the compiler is to vectorise: with AVX2 where the processor has it. No fused multiply-add, so that every
// processor gives the same bits.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define TARE_VECTORISED __attribute__((target_clones("avx2", "default")))
#else
#define TARE_VECTORISED
#endif

#define TARE_INLINE inline __attribute__((always_inline))

// Before a loop whose iterations do not depend on each other; an output may be exactly one of the inputs.
#if defined(__clang__)
#define TARE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TARE_INDEPENDENT _Pragma("GCC ivdep")
#endif
