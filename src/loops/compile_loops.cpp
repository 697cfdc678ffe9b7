#include "loops/compile_loops.hpp"

#include <algorithm>

#include "expressions/graph.hpp"
#include "loops/body_rows.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

template <typename Visitor>
decltype(auto) visit(const Mechanism& mechanism, const LoopRef& loop, Visitor&& visitor) {
  const auto index = static_cast<std::size_t>(loop.index);
  switch (loop.kind) {
    case LoopKind::Coupling:
      return visitor(mechanism.couplings[index]);
    case LoopKind::Joint:
      return visitor(mechanism.loops[index]);
    case LoopKind::Rod:
      return visitor(mechanism.rods[index]);
    case LoopKind::Function:
      break;
  }
  return visitor(mechanism.functions[index]);
}

/// Fills in one loop entry; one method per kind of loop.
class LoopCompiler {
 public:
  LoopCompiler(const BodyPlaces& places,
               const std::function<int(const std::string& joint)>& bodyOfJoint,
               const ClusterEntry& cluster, ModelTables<double>& tables)
      : places_(places), bodyOfJoint_(bodyOfJoint), cluster_(cluster), tables_(tables) {}

  void compile(const Coupling& coupling, LoopEntry<double>& entry) {
    entry.form = {.kind = RowKind::Coupling, .offset = coupling.offset};
    entry.rows = 1;
    entry.forces = static_cast<int>(coupling.terms.size());
    for (const Coupling::Term& term : coupling.terms) {
      addTerm(term.coordinate, term.coefficient, entry);
    }
  }

  /// Loops between two bodies.
  template <typename Loop>
  requires requires(const Loop& loop) { bodyForm(loop); }

  void compile(const Loop& loop, LoopEntry<double>& entry) {
    const BodyForm compiled = bodyForm(loop);
    entry.form = compiled.form;
    entry.rows = compiled.rows;
    entry.predecessor = end(loop.predecessor.body, compiled.predecessor);
    entry.successor = end(loop.successor.body, compiled.successor);
    entry.forces = 6;
    entry.forceFrame = end(loop.successor.body, compiled.forceFrame).frame;
    addColumns(entry);
  }

  void compile(const Function& function, LoopEntry<double>& entry) {
    entry.form = {.kind = RowKind::Function};
    entry.rows = function.rows;
    entry.forces = static_cast<int>(function.coordinates.size());
    for (const Coordinate& coordinate : function.coordinates) {
      addTerm(coordinate, 1.0, entry);
    }
    int numbers = entry.rows * entry.terms;  // for the results of callbacks
    if (function.expression.results() > 0) {
      appendPrograms(function.expression, entry.programs);
      numbers = std::max(entry.programs.value.registers(), entry.programs.slopeRates.registers());
    }
    tables_.functionNumbers = std::max(tables_.functionNumbers, numbers);
  }

 private:
  void appendPrograms(const Expression& phi, FunctionPrograms& programs) {
    std::vector<ProgramStep<double>>& steps = tables_.programSteps;
    const Expression slopes = phi.jacobian();
    const ProgramParts parts =
        appendProgramParts(slopesAndSecondRate(phi), phi.arguments(), slopes.results(), steps);
    programs = {appendProgram(phi, steps),
                parts.early,
                parts.late,
                appendProgram(slopes.rate(), steps),
                appendProgram(secondOrder(phi), steps),
                tables_.secondOrderNumbers,
                tables_.keptRegisters};
    tables_.secondOrderNumbers += programs.secondOrder.results;
    tables_.secondOrderRegisters =
        std::max(tables_.secondOrderRegisters, programs.secondOrder.registers());
    tables_.keptRegisters += parts.late.registers();
  }

  LoopEnd<double> end(const std::string& body, const Pose& frame) const {
    const int index = places_.modelBody(body);
    return {index == cluster_.output ? -1 : index - cluster_.firstBody,
            places_.frameInModelBody(body) * frame};
  }

  void addTerm(const Coordinate& coordinate, double coefficient, LoopEntry<double>& entry) {
    const BodyEntry<double>& body = tables_.bodies[bodyOfJoint_(coordinate.joint)];
    tables_.terms.push_back({body.firstPosition - cluster_.firstPosition + coordinate.component,
                             body.firstVelocity - cluster_.firstVelocity + coordinate.component,
                             coefficient});
    ++entry.terms;
  }

  /// DoFs above one end but not above the other; those above both move the loop as a whole.
  void addColumns(LoopEntry<double>& entry) {
    const auto pathUp = [&](int localBody) {
      std::vector<int> path;
      int body = localBody < 0 ? cluster_.output : cluster_.firstBody + localBody;
      while (body != cluster_.output) {
        path.push_back(body);
        body = tables_.bodies[body].parent;
      }
      return path;
    };
    const std::vector<int> a = pathUp(entry.predecessor.body), b = pathUp(entry.successor.body);
    const auto add = [&](const std::vector<int>& path, const std::vector<int>& other, int sign) {
      for (const int body : path) {
        if (std::ranges::find(other, body) != other.end()) {
          continue;
        }
        const BodyEntry<double>& moved = tables_.bodies[body];
        for (int j = 0; j < velocitySize(moved.type); ++j) {
          tables_.columns.push_back({moved.firstVelocity - cluster_.firstVelocity + j, sign});
          ++entry.columns;
        }
      }
    };
    add(a, b, -1);
    add(b, a, +1);
  }

  const BodyPlaces& places_;
  const std::function<int(const std::string&)>& bodyOfJoint_;
  const ClusterEntry& cluster_;
  ModelTables<double>& tables_;
};

}  // namespace

void compileLoops(const Mechanism& mechanism, const BodyCluster& source, const BodyPlaces& places,
                  const std::function<int(const std::string& joint)>& bodyOfJoint,
                  ClusterEntry& cluster, ModelTables<double>& tables) {
  cluster.firstLoop = static_cast<int>(tables.loops.size());
  cluster.loops = static_cast<int>(source.loops.size());
  cluster.firstRow = tables.rows;
  LoopCompiler compiler(places, bodyOfJoint, cluster, tables);
  for (const LoopRef& loop : source.loops) {
    LoopEntry<double> entry;
    entry.firstRow = cluster.rows;
    entry.firstColumn = static_cast<int>(tables.columns.size());
    entry.firstTerm = static_cast<int>(tables.terms.size());
    entry.function = loop.kind == LoopKind::Function ? loop.index : -1;
    try {
      visit(mechanism, loop,
            [&](const auto& description) { compiler.compile(description, entry); });
    } catch (const TracingError& error) {
      throw ModelError(mechanism.place(lineOf(mechanism, loop)) + describe(mechanism, loop) +
                       ": its derivatives are too large: " + error.what());
    }
    cluster.rows += entry.rows;
    entry.firstForce = tables.loopForces;
    tables.loopForces += entry.forces;
    tables.loops.push_back(entry);
  }
  tables.rows += cluster.rows;
}

const std::string& nameOf(const Mechanism& mechanism, const LoopRef& loop) {
  return visit(mechanism, loop,
               [](const auto& description) -> const std::string& { return description.name; });
}

std::vector<std::string> endsOf(const Mechanism& mechanism, const LoopRef& loop) {
  return visit(mechanism, loop, [](const auto& description) -> std::vector<std::string> {
    if constexpr (requires { description.predecessor.body; }) {
      return {description.predecessor.body, description.successor.body};
    } else {
      return {};
    }
  });
}

int lineOf(const Mechanism& mechanism, const LoopRef& loop) {
  return visit(mechanism, loop, [](const auto& description) { return description.line; });
}

std::string describe(const Mechanism& mechanism, const LoopRef& loop) {
  static constexpr const char* kKinds[] = {"coupling", "loop", "rod", "function"};
  return std::string(kKinds[static_cast<int>(loop.kind)]) + " " +
         kempe::quoted(nameOf(mechanism, loop));
}

}  // namespace kempe::detail
