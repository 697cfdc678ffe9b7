#pragma once

/// Marks the functions and classes that the library exports. All other symbols are hidden, in
/// particular those of Eigen, since a program compiled for another instruction set contains other
/// versions of them.
#define KEMPE_API __attribute__((visibility("default")))
