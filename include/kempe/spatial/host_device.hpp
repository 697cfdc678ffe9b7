#pragma once

/// Marks functions that also compile as CUDA device code.
#if defined(__CUDACC__)
#define KEMPE_HD __host__ __device__
#else
#define KEMPE_HD
#endif
