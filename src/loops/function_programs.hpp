#pragma once

#include "tables/tables.hpp"

namespace kempe::detail {

/// Appends the programs of a function φ(x) to `steps`. Throws TracingError if its derivatives are too
/// large.
FunctionPrograms appendPrograms(const Expression& phi, std::vector<ProgramStep<double>>& steps);

}  // namespace kempe::detail
