#include "algorithms/differentiable.hpp"

#include <stdexcept>

#include "model/arguments.hpp"
#include "text/messages.hpp"

namespace kempe::detail {

namespace {

[[noreturn]] void throwCallback(const std::string& name) {
  throw std::invalid_argument(
      "function " + kempe::quoted(name) +
      " is a callback, whose higher derivatives are not known, so that derivatives cannot be "
      "computed. Write it as an expression.");
}

}  // namespace

void requireExpressions(const ModelImpl& impl) {
  for (const LoopEntry<double>& loop : impl.tables.loops) {
    if (loop.form.kind == RowKind::Function && !loop.programs.exist()) {
      throwCallback(impl.mechanism.functions[static_cast<std::size_t>(loop.function)].name);
    }
  }
}

void requireDifferentiable(const ModelImpl& impl) {
  requireExpressions(impl);
  requireDifferentiable(impl.cuts);
}

void requireDifferentiable(const ConstraintTable& table) {
  for (const ConstraintEntry& entry : table.entries) {
    if (entry.enabled && entry.form.kind == RowKind::Function && !entry.programs.exist()) {
      throwCallback(entry.name);
    }
  }
}

}  // namespace kempe::detail
