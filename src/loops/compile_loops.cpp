#include "loops/compile_loops.hpp"

#include <algorithm>

#include "loops/body_rows.hpp"
#include "loops/coordinate_rows.hpp"
#include "loops/function_programs.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// Fills in one loop entry.
class LoopCompiler {
 public:
  LoopCompiler(const BodyPlaces& places,
               const std::function<int(const std::string& joint)>& bodyOfJoint,
               const ClusterEntry& cluster, ModelTables<double>& tables)
      : places_(places), bodyOfJoint_(bodyOfJoint), cluster_(cluster), tables_(tables) {}

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

  /// Loops along coordinates.
  template <typename Loop>
  requires requires(const Loop& loop) { coordinateForm(loop); }

  void compile(const Loop& loop, LoopEntry<double>& entry) {
    const CoordinateForm compiled = coordinateForm(loop);
    entry.form = compiled.form;
    entry.rows = compiled.rows;
    entry.forces = static_cast<int>(compiled.terms.size());
    for (const Coupling::Term& term : compiled.terms) {
      addTerm(term.coordinate, term.coefficient, entry);
    }
    if (compiled.function != nullptr) {
      addFunction(*compiled.function, entry);
    }
  }

 private:
  void addFunction(const Function& function, LoopEntry<double>& entry) {
    int numbers = entry.rows * entry.terms;  // for the results of callbacks
    if (function.expression.results() > 0) {
      FunctionPrograms& programs = entry.programs;
      programs = appendPrograms(function.expression, tables_.programSteps);
      programs.firstSecondOrder = tables_.secondOrderNumbers;
      programs.firstRegister = tables_.keptRegisters;
      tables_.secondOrderNumbers += programs.secondOrder.results;
      tables_.secondOrderRegisters =
          std::max(tables_.secondOrderRegisters, programs.secondOrder.registers());
      tables_.keptRegisters += programs.secondRate.registers();
      numbers = std::max(programs.value.registers(), programs.slopeRates.registers());
    }
    tables_.functionNumbers = std::max(tables_.functionNumbers, numbers);
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
        if (moved.node >= 0) {
          addNodeColumns(tables_.nodes[moved.node], sign, entry);
        }
        if (moved.type == JointType::Mode) {
          continue;  // moves nothing but nodes
        }
        for (int j = 0; j < velocitySize(moved.type); ++j) {
          tables_.columns.push_back({moved.firstVelocity - cluster_.firstVelocity + j, sign});
          ++entry.columns;
        }
      }
    };
    add(a, b, -1);
    add(b, a, +1);
  }

  void addNodeColumns(const NodeEntry<double>& node, int sign, LoopEntry<double>& entry) {
    const FlexibleEntry& flexible = tables_.flexibles[node.flexible];
    for (int i = 0; i < flexible.modes; ++i) {
      tables_.columns.push_back(
          {flexible.firstVelocity - cluster_.firstVelocity + i, sign, node.firstShape + i});
      ++entry.columns;
    }
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
      visitLoop(mechanism, loop,
                [&](const auto& description) { compiler.compile(description, entry); });
    } catch (const TracingError& error) {
      throwAtLoop(mechanism, loop, error.what());
    }
    cluster.rows += entry.rows;
    entry.firstForce = tables.loopForces;
    tables.loopForces += entry.forces;
    tables.loops.push_back(entry);
  }
  tables.rows += cluster.rows;
}

const std::string& nameOf(const Mechanism& mechanism, const LoopRef& loop) {
  return visitLoop(mechanism, loop,
                   [](const auto& description) -> const std::string& { return description.name; });
}

std::vector<std::string> endsOf(const Mechanism& mechanism, const LoopRef& loop) {
  return visitLoop(mechanism, loop, [](const auto& description) -> std::vector<std::string> {
    if constexpr (requires { description.predecessor.body; }) {
      return {description.predecessor.body, description.successor.body};
    } else {
      return {};
    }
  });
}

int lineOf(const Mechanism& mechanism, const LoopRef& loop) {
  return visitLoop(mechanism, loop, [](const auto& description) { return description.line; });
}

namespace {

/// One for each description that visitLoop() can give: a kind without a word does not compile.
const char* wordFor(const Coupling& /*description*/) {
  return "coupling";
}
const char* wordFor(const LoopJoint& /*description*/) {
  return "loop";
}
const char* wordFor(const Rod& /*description*/) {
  return "rod";
}
const char* wordFor(const Function& /*description*/) {
  return "function";
}

}  // namespace

std::string describe(const Mechanism& mechanism, const LoopRef& loop) {
  return visitLoop(mechanism, loop, [](const auto& description) {
    return std::string(wordFor(description)) + " " + kempe::quoted(description.name);
  });
}

void throwAtLoop(const Mechanism& mechanism, const LoopRef& loop, const std::string& reason) {
  throw ModelError(mechanism.place(lineOf(mechanism, loop)) + describe(mechanism, loop) + ": " +
                   reason);
}

}  // namespace kempe::detail
