#pragma once

#include "model/model_impl.hpp"

namespace kempe::detail {

/// Whether a body is a leaf that turns about its own axis of symmetry.
bool isRotor(const ModelTables<double>& tables, int body);

/// Merges leaf bodies that turn about their own axis of symmetry into their parents. Such a body
/// looks the same at every angle, so its inertia is constant in the parent's frame; only its spin
/// remains separate. This is exact: no term is neglected.
void foldRotors(ModelImpl& model);

}  // namespace kempe::detail
