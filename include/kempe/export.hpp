#pragma once

/// Marks the functions and classes that the library exports. All other symbols are hidden, those of
/// Eigen in particular: a program compiled for another instruction set has its own versions of them.
#define KEMPE_API __attribute__((visibility("default")))
