#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace kempe::detail {

struct ModelImpl;

/// A random configuration whose clusters are closed; loops that are left cut are not.
Eigen::VectorXd openConfiguration(const ModelImpl& model, std::uint64_t seed);

}  // namespace kempe::detail
