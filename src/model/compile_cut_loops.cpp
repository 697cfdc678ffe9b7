#include "model/compile_cut_loops.hpp"

#include "loops/compile_loops.hpp"
#include "model/model_impl.hpp"

namespace kempe::detail {
namespace {

ConstraintEnd endOf(const ModelImpl& model, const std::string& body) {
  const FrameEntry& frame = model.frames[static_cast<std::size_t>(model.frameByName.at(body))];
  return {frame.body, frame.inBody};
}

template <typename Loop>
requires requires(const Loop& loop) {
  bodyForm(loop);
}

void setRows(const ModelImpl& model, const Loop& loop, ConstraintEntry& entry) {
  setLoop(bodyForm(loop), endOf(model, loop.predecessor.body), endOf(model, loop.successor.body),
          entry);
}

template <typename Loop>
requires requires(const Loop& loop) {
  coordinateForm(loop);
}

void setRows(const ModelImpl& model, const Loop& loop, ConstraintEntry& entry) {
  const CoordinateForm form = coordinateForm(loop);
  setLoop(form, entry);
  for (const Coupling::Term& term : form.terms) {
    const Coordinate& coordinate = term.coordinate;
    const auto b = static_cast<std::size_t>(model.bodyByJoint.at(coordinate.joint));
    const BodyEntry<double>& body = model.tables.bodies[b];
    entry.terms.push_back({body.firstPosition + coordinate.component,
                           body.firstVelocity + coordinate.component, term.coefficient});
  }
}

ConstraintEntry entryOf(const ModelImpl& model, const LoopRef& loop) {
  ConstraintEntry entry;
  entry.name = nameOf(model.mechanism, loop);
  try {
    visitLoop(model.mechanism, loop,
              [&](const auto& description) { setRows(model, description, entry); });
  } catch (const TracingError& error) {
    throwAtLoop(model.mechanism, loop, error.what());
  }
  return entry;
}

/// A loop of a cluster, whose numbers count from the cluster's first.
ConstraintEntry entryOf(const ModelImpl& model, const ClusterEntry& cluster,
                        const LoopEntry<double>& loop, const std::string& name) {
  ConstraintEntry entry;
  entry.name = name;
  entry.rows = loop.rows;
  entry.form = loop.form;
  const auto end = [&](const LoopEnd<double>& e) {
    return ConstraintEnd{e.body < 0 ? cluster.output : cluster.firstBody + e.body, e.frame};
  };
  if (loop.form.betweenBodies()) {
    entry.predecessor = end(loop.predecessor);
    entry.successor = end(loop.successor);
    return entry;
  }
  if (loop.function >= 0) {
    setFunction(model.mechanism.functions[static_cast<std::size_t>(loop.function)], entry);
  }
  for (int t = loop.firstTerm; t < loop.firstTerm + loop.terms; ++t) {
    const LoopTerm<double>& term = model.tables.terms[static_cast<std::size_t>(t)];
    entry.terms.push_back({cluster.firstPosition + term.position,
                           cluster.firstVelocity + term.velocity, term.coefficient});
  }
  return entry;
}

}  // namespace

void compileCuts(ModelImpl& model) {
  model.cuts = {};
  model.cutNames.clear();
  for (const LoopRef& loop : model.cutRefs) {
    model.cuts.append(model.tables, entryOf(model, loop));
    const ConstraintEntry& entry = model.cuts.entries.back();
    model.cuts.forces += entry.forceEntries();
    model.cutNames.push_back(entry.name);
    model.rowNames.insert(model.rowNames.end(), static_cast<std::size_t>(entry.rows), entry.name);
  }
}

ConstraintTable allLoops(const ModelImpl& model, const ModelTables<double>& spanning) {
  ConstraintTable all;
  for (const ClusterEntry& cluster : model.tables.clusters) {
    for (int l = cluster.firstLoop; l < cluster.firstLoop + cluster.loops; ++l) {
      const auto index = static_cast<std::size_t>(l);
      all.append(spanning,
                 entryOf(model, cluster, model.tables.loops[index], model.loopNames[index]));
    }
  }
  for (const ConstraintEntry& entry : model.cuts.entries) {
    ConstraintEntry again = entry;
    again.path.clear();
    again.clusters.clear();
    again.onRotor = false;
    all.append(spanning, std::move(again));
  }
  return all;
}

}  // namespace kempe::detail
