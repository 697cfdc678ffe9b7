#pragma once

/// Marks what the shared library exports. All else is hidden: above all the functions of Eigen,
/// which a program that is compiled for other instructions has its own versions of.
#define KEMPE_API __attribute__((visibility("default")))
