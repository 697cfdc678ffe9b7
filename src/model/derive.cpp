#include "model/derive.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <stdexcept>

#include "loops/cluster_velocity.hpp"
#include "loops/coordinate_rows.hpp"
#include "loops/decompositions.hpp"
#include "loops/force_analysis.hpp"
#include "loops/selection.hpp"
#include "mechanism/tree.hpp"
#include "model/compile_cut_loops.hpp"
#include "model/layout.hpp"
#include "model/names.hpp"
#include "model/positions.hpp"
#include "model/rotors.hpp"
#include "model/shapes.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Chosen coordinates that follow the present ones by less than this do not determine them.
constexpr double kDetermined = 1e-5;
/// A neutral position in which they follow by at least this is kept.
constexpr double kWellDetermined = 1e-2;

/// q = G y + offset in other coordinates y' = G_r y + offset_r.
void solveCouplings(ModelTables<double>& tables, const ClusterEntry& cluster,
                    const std::vector<int>& independent) {
  Eigen::Map<RowMajor> G(tables.G.data() + cluster.firstG, cluster.velocities, cluster.nv);
  Eigen::Map<Eigen::VectorXd> offset(tables.offset.data() + cluster.firstOffset,
                                     cluster.velocities);
  const Eigen::MatrixXd own = G(independent, Eigen::all);
  const Eigen::MatrixXd ratios = G * solved(own, Eigen::MatrixXd::Identity(cluster.nv, cluster.nv));
  const Eigen::VectorXd shift = offset - ratios * offset(independent);
  G = ratios;
  offset = shift;
  for (int j = 0; j < cluster.nv; ++j) {  // exactly
    G.row(independent[j]).setZero();
    G(independent[j], j) = 1.0;
    offset[independent[j]] = 0.0;
  }
}

/// The forces of the couplings, from forces at the joints that are now dependent.
void solveCouplingForces(ModelTables<double>& tables, const ClusterEntry& cluster,
                         const std::vector<int>& dependent) {
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(cluster.rows, cluster.velocities);
  for (int l = cluster.firstLoop; l < cluster.firstLoop + cluster.loops; ++l) {
    const LoopEntry<double>& loop = tables.loops[l];
    forCouplingSlopes<double>(tables, loop, [&](int /*t*/, int velocity, double slope) {
      K(loop.firstRow, velocity) += slope;
    });
  }
  std::ranges::copy(couplingForces(tables, cluster, K, dependent),
                    tables.couplingForces.begin() + cluster.firstCouplingForce);
}

void choose(ModelImpl& model, const ClusterEntry& cluster, const std::vector<int>& independent) {
  ModelTables<double>& tables = model.tables;
  if (cluster.kind == ClusterKind::Explicit) {
    solveCouplings(tables, cluster, independent);
    solveCouplingForces(tables, cluster, complement(independent, cluster.velocities));
  }
  std::ranges::copy(independent, tables.independent.begin() + cluster.firstIndependent);
  std::ranges::copy(complement(independent, cluster.velocities),
                    tables.dependent.begin() + cluster.firstDependent);
  for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
    const BodyEntry<double>& body = tables.bodies[b];
    const int first = body.firstVelocity - cluster.firstVelocity;
    model.mechanism.joints[static_cast<std::size_t>(model.jointOfBody[b])].independence =
        std::ranges::any_of(
            independent, [&](int i) { return i >= first && i < first + velocitySize(body.type); });
  }
}

/// The part of q at spanning positions.
void assemble(const ModelTables<double>& tables, const std::vector<double>& positions, Vector& q) {
  for (const ClusterEntry& cluster : tables.clusters) {
    contractPositions(tables, cluster, positions.data() + cluster.firstPosition, q.data());
  }
}

/// How well chosen velocities of a cluster determine the present ones at q: the smallest singular
/// value of their rows of G, relative to the largest of G.
double determination(const Model& model, Data& data, const ClusterEntry& cluster,
                     const std::vector<int>& chosen, const Eigen::VectorXd& q) {
  const ModelImpl& m = model.impl();
  std::vector<double>& positions = data.impl().positions;
  expandPositions(m, q.data(), positions.data());
  ClusterState<double> state = data.impl().loops.state(positions.data() + cluster.firstPosition);
  placeCluster(m.tables, cluster, state);
  RowMajor G(cluster.velocities, cluster.nv);
  if (isSingular(clusterJacobian(m.tables, m.mechanism.functions, cluster, state, data.impl().loops,
                                 G.data()))) {
    return 0.0;
  }
  return singularValues(G(chosen, Eigen::all)).minCoeff() / singularValues(G).maxCoeff();
}

/// The coordinates of each cluster that are named.
std::map<int, std::vector<int>> namedByCluster(const ModelImpl& model,
                                               const std::vector<std::string>& coordinates) {
  std::map<int, std::vector<int>> chosen;
  for (const std::string& name : coordinates) {
    const auto found = std::ranges::find(model.velocityNames, name);
    if (found == model.velocityNames.end()) {
      throw std::invalid_argument("coordinates: model " + kempe::quoted(model.mechanism.name) +
                                  " has no velocity coordinate " + kempe::quoted(name) +
                                  " (Model::spanningVelocityNames)");
    }
    const int velocity = static_cast<int>(found - model.velocityNames.begin());
    int c = 0;
    while (velocity >=
           model.tables.clusters[c].firstVelocity + model.tables.clusters[c].velocities) {
      ++c;
    }
    chosen[c].push_back(velocity - model.tables.clusters[c].firstVelocity);
  }
  for (auto& [c, list] : chosen) {
    std::ranges::sort(list);
    const int freedoms = model.tables.clusters[c].nv;
    const bool twice = std::ranges::adjacent_find(list) != list.end();
    if (static_cast<int>(list.size()) != freedoms || twice) {
      throw std::invalid_argument("coordinates: the cluster of joint " +
                                  kempe::quoted(model.clusters[c].joints.front()) + " has " +
                                  std::to_string(freedoms) + " degree(s) of freedom, but " +
                                  std::to_string(list.size()) + " of its coordinates are named" +
                                  (twice ? ", one of them twice" : "") + ". Name " +
                                  std::to_string(freedoms) + " or none.");
    }
  }
  return chosen;
}

}  // namespace

std::uint64_t nextModelId() {
  static std::atomic<std::uint64_t> count{0};
  return ++count;
}

void finishTables(ModelImpl& model) {
  model.tables.ratios = model.tables.dNumbers = model.tables.sColumns = 0;
  layOut(model);
  findDrives(model);
  listRotors(model.tables);
  findShapes(model.tables);
  compileCuts(model);
  model.comparedTrees = {};
  model.finished = FinishedTables(model.tables);
}

void describeClusters(ModelImpl& model) {
  const Tree tree(model.mechanism);
  const std::string& root =
      model.mechanism.bodies[static_cast<std::size_t>(tree.roots().front())].name;
  model.clusters.clear();
  for (const ClusterEntry& cluster : model.tables.clusters) {
    ClusterInfo info;
    for (int b = 0; b < cluster.bodies; ++b) {
      info.bodies.push_back(model.bodyNames[cluster.firstBody + b]);
      info.joints.push_back(model.jointNames[cluster.firstBody + b]);
    }
    for (int l = 0; l < cluster.loops; ++l) {
      info.loops.push_back(model.loopNames[cluster.firstLoop + l]);
    }
    for (int i = 0; i < cluster.nv; ++i) {
      info.independent.push_back(model.vNames[cluster.firstV + i]);
    }
    info.outputBody = cluster.output == kWorld ? root : model.bodyNames[cluster.output];
    info.mobility = cluster.nv;
    info.redundantRows = cluster.rows - cluster.kept;
    for (int i = 0; i < cluster.drives; ++i) {
      const int velocity = model.tables.drives[cluster.firstDrive + i];
      info.rotorJoints.push_back(model.velocityNames[cluster.firstVelocity + velocity]);
    }
    info.implicit = cluster.kind == ClusterKind::Implicit;
    model.clusters.push_back(std::move(info));
  }
}

ModelImpl derived(const ModelImpl& from, const ModelChanges& changes) {
  ModelImpl model = from;
  for (std::size_t c = 0; c < changes.independent.size(); ++c) {
    if (!changes.independent[c].empty()) {
      choose(model, model.tables.clusters[c], changes.independent[c]);
    }
  }
  for (std::size_t j = 0; j < changes.addedArmature.size(); ++j) {
    model.mechanism.joints[j].armature += changes.addedArmature[j];
  }
  for (Joint& joint : model.mechanism.joints) {
    joint.friction = changes.withoutFriction ? 0.0 : joint.friction;
  }
  for (auto* names : {&model.bodyNames, &model.jointNames, &model.positionNames,
                      &model.velocityNames, &model.vNames, &model.qNames, &model.rowNames}) {
    names->clear();
  }
  nameCoordinates(model);
  assemble(model.tables, model.neutralPositions, model.neutral);
  finishTables(model);
  describeClusters(model);
  model.id = nextModelId();
  return model;
}

}  // namespace kempe::detail

namespace kempe {

Model Model::withIndependent(const std::vector<std::string>& coordinates) const {
  using namespace detail;  // NOLINT(google-build-using-namespace)
  constexpr int kSamples = 8;
  ModelChanges changes;
  changes.independent.resize(impl_->tables.clusters.size());
  Data data(*this);
  // The neutral position, or another one where the choice is better conditioned.
  Eigen::VectorXd neutral = impl_->neutral;
  const auto chosen = namedByCluster(*impl_, coordinates);
  for (const auto& [c, list] : chosen) {
    const ClusterEntry& cluster = impl_->tables.clusters[c];
    changes.independent[static_cast<std::size_t>(c)] = list;
    double best = determination(*this, data, cluster, list, neutral);
    for (std::uint64_t seed = 0; seed < kSamples && best < kWellDetermined; ++seed) {
      const Eigen::VectorXd q = randomConfiguration(seed);
      const double here = determination(*this, data, cluster, list, q);
      if (here > best) {
        best = here;
        neutral.segment(cluster.firstQ, cluster.nq) = q.segment(cluster.firstQ, cluster.nq);
      }
    }
    if (!(best > kDetermined)) {
      std::vector<std::string> names;
      for (const int i : list) {
        names.push_back(impl_->velocityNames[cluster.firstVelocity + i]);
      }
      throw std::invalid_argument("coordinates: " + joined(names) +
                                  " do not determine the others of their cluster. Choose others.");
    }
  }
  ModelImpl source = *impl_;
  expandPositions(source, neutral.data(), source.neutralPositions.data());
  return Model(std::make_shared<const ModelImpl>(derived(source, changes)));
}

}  // namespace kempe
