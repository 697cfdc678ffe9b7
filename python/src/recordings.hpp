#pragma once

#include <Eigen/Core>
#include <string>
#include <utility>
#include <vector>

#include "kempe/recording.hpp"

/// Recordings of the library as kempe.Run has them. The fields of a run that have numbers of every
/// sample are listed here only.
namespace kempe::python {

/// A sample in one array: the fields in their order, and wrenches on bodies where there are any.
Eigen::VectorXd sampleArray(const Recording::Sample& sample);
/// The fields and their sizes, in the samples of a model.
std::vector<std::pair<std::string, int>> sampleFields(const Model& model);

}  // namespace kempe::python
