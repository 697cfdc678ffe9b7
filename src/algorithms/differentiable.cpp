#include "algorithms/differentiable.hpp"

#include <stdexcept>

#include "text/messages.hpp"

namespace kempe::detail {

void requireDifferentiable(const ModelImpl& impl) {
  for (const LoopEntry<double>& loop : impl.tables.loops) {
    if (loop.form.kind == RowKind::Function && !loop.programs.exist()) {
      const Function& function = impl.mechanism.functions[static_cast<std::size_t>(loop.function)];
      throw std::invalid_argument(
          "function " + kempe::quoted(function.name) +
          " is a callback, whose third derivatives are not known, so that the dynamics cannot be "
          "differentiated. Write it as an expression.");
    }
  }
  if (!impl.cuts.entries.empty()) {
    throw std::invalid_argument("loop " + kempe::quoted(impl.cuts.entries.front().name) +
                                " is left cut, so that its forces are multipliers and the dynamics "
                                "are differentiated with these. Embed the loop.");
  }
}

}  // namespace kempe::detail
