#pragma once

#include <Eigen/Core>

namespace kempe {

using VectorIn = const Eigen::Ref<const Eigen::VectorXd>&;
using VectorOut = Eigen::Ref<Eigen::VectorXd>;
using MatrixOut = Eigen::Ref<Eigen::MatrixXd>;

}  // namespace kempe
