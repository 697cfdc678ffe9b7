#include "model/independent_tree.hpp"

#include <algorithm>
#include <optional>

#include "loops/cluster_velocity.hpp"
#include "model/fold_rotors.hpp"
#include "model/model_impl.hpp"
#include "model/shapes.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

/// Rows of G whose smallest pivot is below this fraction of the largest ratio do not determine a
/// cluster.
constexpr double kDeterminedRatios = 1e-6;
/// Sets of bodies that are looked at in one cluster at most.
constexpr int kLargestSearch = 100000;

/// Chooses the bodies of one cluster.
class ClusterChoice {
 public:
  ClusterChoice(const ModelImpl& model, const ClusterEntry& cluster, std::vector<double> G)
      : model_(model),
        cluster_(cluster),
        G_(std::move(G)),
        needed_(static_cast<std::size_t>(cluster.bodies), 0),
        taken_(needed_),
        rotor_(needed_) {
    for (int b = cluster.bodies; b-- > 0;) {
      const BodyEntry<double>& body = bodyAt(b);
      rotor_[b] = static_cast<char>(isRotor(model.tables, cluster.firstBody + b));
      needed_[b] = static_cast<char>(needed_[b] != 0 || body.carrier);
      if (needed_[b] != 0 && body.parent >= cluster.firstBody) {
        needed_[body.parent - cluster.firstBody] = 1;
      }
    }
  }

  /// Bodies to keep, within the cluster, ascending; empty optional where there is no choice.
  std::optional<std::vector<int>> find() {
    if (takeOwn()) {
      return bodiesOf(taken_);
    }
    std::ranges::fill(taken_, 0);
    search(0, cluster_.nv);
    return best_;
  }

  [[nodiscard]] std::string problem() const {
    int freedoms = 0, last = 0;
    for (int b = 0; b < cluster_.bodies; ++b) {
      freedoms += needed_[b] != 0 ? velocitySize(bodyAt(b).type) : 0;
      last = bodyAt(b).carrier ? b : last;
    }
    const std::string start =
        "model " + kempe::quoted(model_.mechanism.name) + " has no independent tree: ";
    const std::string end = ". Use Method::Cluster, Projection or Lagrange.";
    const std::string loop = kempe::quoted(model_.loopNames[cluster_.firstLoop]);
    const std::string mobility = std::to_string(cluster_.nv) + " independent velocities";
    const std::string body = kempe::quoted(model_.bodyNames[cluster_.firstBody + last]);
    if (freedoms > 0) {
      return start + "body " + body + " carries others, but cannot be kept: the cluster of loop " +
             loop + " has " + mobility + ", and no " + std::to_string(cluster_.nv) +
             " of its joints carry all bodies attached to it and determine its motion" + end;
    }
    return start + "no bodies from " + body + " on, in the cluster of loop " + loop +
           ", form a tree whose joints determine its " + mobility + end;
  }

 private:
  [[nodiscard]] const BodyEntry<double>& bodyAt(int b) const {
    return model_.tables.bodies[cluster_.firstBody + b];
  }
  [[nodiscard]] bool canTake(int b) const {
    const int parent = bodyAt(b).parent;
    return parent < cluster_.firstBody || taken_[parent - cluster_.firstBody] != 0;
  }
  static std::vector<int> bodiesOf(const std::vector<char>& set) {
    std::vector<int> bodies;
    for (std::size_t b = 0; b < set.size(); ++b) {
      if (set[b] != 0) {
        bodies.push_back(static_cast<int>(b));
      }
    }
    return bodies;
  }

  /// The bodies of the model's own independent joints.
  bool takeOwn() {
    const int* independent = model_.tables.independent.data() + cluster_.firstIndependent;
    for (int b = 0; b < cluster_.bodies; ++b) {
      const int first = bodyAt(b).firstVelocity - cluster_.firstVelocity;
      const int n = velocitySize(bodyAt(b).type);
      const auto own = std::count_if(independent, independent + cluster_.nv,
                                     [&](int i) { return i >= first && i < first + n; });
      if (own == 0 && needed_[b] == 0) {
        continue;
      }
      if (own != n || !canTake(b) || rotor_[b] != 0) {
        return false;
      }
      taken_[b] = 1;
    }
    return true;
  }

  /// Decides on body b and those after it; `left` more DoFs are required.
  void search(int b, int left) {
    if (++visited_ > kLargestSearch) {
      return;
    }
    if (b == cluster_.bodies) {
      if (left == 0) {
        weigh();
      }
      return;
    }
    const int n = velocitySize(bodyAt(b).type);
    if (n <= left && canTake(b)) {
      taken_[b] = 1;
      search(b + 1, left - n);
      taken_[b] = 0;
    }
    if (needed_[b] == 0) {
      search(b + 1, left);
    }
  }

  void weigh() {
    int rotors = 0;
    double mass = 0.0;
    std::vector<double> ratios;
    for (const int b : bodiesOf(taken_)) {
      rotors += rotor_[b] != 0 ? 1 : 0;
      mass += bodyAt(b).own.mass;
      const int first = bodyAt(b).firstVelocity - cluster_.firstVelocity;
      const auto rows = G_.begin() + first * cluster_.nv;
      ratios.insert(ratios.end(), rows, rows + velocitySize(bodyAt(b).type) * cluster_.nv);
    }
    if (best_ && (rotors > bestRotors_ || (rotors == bestRotors_ && mass <= bestMass_))) {
      return;
    }
    std::vector<int> pivots(static_cast<std::size_t>(cluster_.nv));
    const double largest = largestOf(G_.data(), cluster_.velocities * cluster_.nv);
    if (determineRatios(ratios.data(), cluster_.nv, pivots.data(), largest) > kDeterminedRatios) {
      best_ = bodiesOf(taken_);
      bestRotors_ = rotors;
      bestMass_ = mass;
    }
  }

  const ModelImpl& model_;
  const ClusterEntry& cluster_;
  std::vector<double> G_;
  std::vector<char> needed_, taken_, rotor_;
  std::optional<std::vector<int>> best_;
  int bestRotors_ = 0, visited_ = 0;
  double bestMass_ = 0.0;
};

class Builder {
 public:
  explicit Builder(const ModelImpl& model) : model_(model), scratch_(model.tables) {}

  IndependentTree run() {
    tree_.treeBody.assign(model_.tables.bodies.size(), -1);
    tree_.reflected.assign(static_cast<std::size_t>(model_.tables.nv), 0.0);
    for (const ClusterEntry& cluster : model_.tables.clusters) {
      if (!addCluster(cluster)) {
        return std::move(tree_);
      }
    }
    ModelTables<double> plain = openTree(model_, tree_.bodies);
    ModelTables<double> loaded = plain;
    for (ClusterEntry& cluster : loaded.clusters) {
      for (int i = cluster.firstV; i < cluster.firstV + cluster.nv; ++i) {
        loaded.armature[i] += tree_.reflected[i];
        cluster.armatured |= loaded.armature[i] != 0.0;
      }
    }
    findShapes(plain);
    findShapes(loaded);
    tree_.plain = FinishedTables(plain);
    tree_.loaded = FinishedTables(loaded);
    return std::move(tree_);
  }

 private:
  bool addCluster(const ClusterEntry& cluster) {
    const std::vector<double> G = ratiosAtNeutral(cluster);
    ClusterChoice choice(model_, cluster, G);
    const std::optional<std::vector<int>> kept = choice.find();
    if (!kept) {
      tree_.problem = choice.problem();
      return false;
    }
    std::vector<int> rows;
    for (const int b : *kept) {
      const BodyEntry<double>& body = model_.tables.bodies[cluster.firstBody + b];
      tree_.treeBody[cluster.firstBody + b] = static_cast<int>(tree_.bodies.size());
      tree_.bodies.push_back(cluster.firstBody + b);
      for (int i = 0; i < velocitySize(body.type); ++i) {
        rows.push_back(body.firstVelocity - cluster.firstVelocity + i);
      }
      for (int i = 0; i < positionSize(body.type); ++i) {
        addPosition(cluster, body.firstPosition - cluster.firstPosition + i);
      }
    }
    tree_.ratios.push_back(rows == independentOf(cluster)          ? TreeRatio::Identity
                           : cluster.kind == ClusterKind::Explicit ? TreeRatio::Constant
                                                                   : TreeRatio::Varying);
    tree_.rows.insert(tree_.rows.end(), rows.begin(), rows.end());
    reflect(cluster, G, rows);
    return true;
  }

  [[nodiscard]] std::vector<int> independentOf(const ClusterEntry& cluster) const {
    const auto first = model_.tables.independent.begin() + cluster.firstIndependent;
    return {first, first + cluster.nv};
  }

  void addPosition(const ClusterEntry& cluster, int position) {
    TreePosition place{.source = cluster.firstQ + position,
                       .cluster = static_cast<int>(tree_.ratios.size()),
                       .row = position};
    if (cluster.kind == ClusterKind::Explicit) {
      const std::vector<int> independent = independentOf(cluster);
      const auto own = std::ranges::find(independent, position);
      place.source = own == independent.end()
                         ? -1
                         : cluster.firstQ + static_cast<int>(own - independent.begin());
    }
    tree_.positions.push_back(place);
  }

  /// G, n×m row-major.
  std::vector<double> ratiosAtNeutral(const ClusterEntry& cluster) {
    std::vector<double> G(static_cast<std::size_t>(cluster.velocities * cluster.nv));
    ClusterState<double> state =
        scratch_.state(model_.neutralPositions.data() + cluster.firstPosition);
    placeCluster(model_.tables, cluster, state);
    clusterJacobian(model_.tables, model_.mechanism.functions, cluster, state, scratch_, G.data());
    return G;
  }

  /// Σ J r² onto the diagonal, with r = the dropped joint's row of G times G_r⁻¹.
  void reflect(const ClusterEntry& cluster, const std::vector<double>& G,
               const std::vector<int>& rows) {
    const int m = cluster.nv;
    std::vector<double> factor, r(static_cast<std::size_t>(m));
    std::vector<int> pivots(static_cast<std::size_t>(m));
    for (const int row : rows) {
      factor.insert(factor.end(), G.begin() + row * m, G.begin() + (row + 1) * m);
    }
    luFactor(factor.data(), m, pivots.data());
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<double>& body = model_.tables.bodies[b];
      if (tree_.treeBody[b] >= 0) {
        continue;
      }
      for (int i = body.firstVelocity; i < body.firstVelocity + velocitySize(body.type); ++i) {
        const double J =
            model_.tables.armature[i] + (isRotor(model_.tables, b) ? body.own.rotation.zz : 0.0);
        std::copy_n(G.begin() + (i - cluster.firstVelocity) * m, m, r.begin());
        luSolveTransposed(factor.data(), m, pivots.data(), r.data());
        for (int j = 0; j < m; ++j) {
          tree_.reflected[cluster.firstV + j] += J * r[j] * r[j];
        }
      }
    }
  }

  const ModelImpl& model_;
  IndependentTree tree_;
  LoopScratch<double> scratch_;
};

}  // namespace

IndependentTree independentTreeOf(const ModelImpl& model) {
  return Builder(model).run();
}

}  // namespace kempe::detail
