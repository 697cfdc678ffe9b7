#pragma once

#include <Eigen/Core>
#include <type_traits>

#include "kempe/vector.hpp"

namespace kempe {

// Arguments of the algorithms, in double or float. The scalar type of a call is deduced from its
// Data; std::type_identity excludes the other arguments from deduction, so that expressions can be
// passed.
template <typename T>
using VectorInOf =
    const Eigen::Ref<const Eigen::Matrix<std::type_identity_t<T>, Eigen::Dynamic, 1>>&;
template <typename T>
using VectorOutOf = Eigen::Ref<Eigen::Matrix<std::type_identity_t<T>, Eigen::Dynamic, 1>>;
template <typename T>
using MatrixOutOf =
    Eigen::Ref<Eigen::Matrix<std::type_identity_t<T>, Eigen::Dynamic, Eigen::Dynamic>>;

using VectorIn = VectorInOf<double>;
using VectorOut = VectorOutOf<double>;
using MatrixOut = MatrixOutOf<double>;

}  // namespace kempe
