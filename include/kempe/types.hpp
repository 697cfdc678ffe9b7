#pragma once

#include <Eigen/Core>
#include <type_traits>

#include "kempe/vector.hpp"

namespace kempe {

// Arguments of the algorithms, in double or float. The scalar of a call is that of its Data;
// std::type_identity keeps it from being looked for elsewhere, so that expressions can be passed.
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
