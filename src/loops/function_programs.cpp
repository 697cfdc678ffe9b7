#include "loops/function_programs.hpp"

#include <string>

#include "expressions/graph.hpp"

namespace kempe::detail {

FunctionPrograms appendPrograms(const Expression& phi, std::vector<ProgramStep<double>>& steps) {
  try {
    const Expression slopes = phi.jacobian();
    const ProgramParts parts =
        appendProgramParts(slopesAndSecondRate(phi), phi.arguments(), slopes.results(), steps);
    return {.value = appendProgram(phi, steps),
            .slopes = parts.early,
            .secondRate = parts.late,
            .slopeRates = appendProgram(slopes.rate(), steps),
            .secondOrder = appendProgram(secondOrder(phi), steps)};
  } catch (const TracingError& error) {
    throw TracingError(std::string("its derivatives are too large: ") + error.what());
  }
}

}  // namespace kempe::detail
