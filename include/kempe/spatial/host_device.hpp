#pragma once

/// KEMPE_HD marks functions that also compile as CUDA device code; KEMPE_FLATTEN those into which
/// everything they call is inlined.
#if defined(__CUDACC__)
#define KEMPE_HD __host__ __device__
#define KEMPE_FLATTEN
#else
#define KEMPE_HD
#ifdef KEMPE_NO_FLATTEN
#define KEMPE_FLATTEN
#else
#define KEMPE_FLATTEN __attribute__((flatten))
#endif
#endif
