#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "algorithms/baselines/spanning.hpp"
#include "algorithms/baselines/tree_factor.hpp"
#include "constraints/constraint_rows.hpp"
#include "kempe/spatial/factorization.hpp"
#include "kernels/external_forces.hpp"
#include "text/messages.hpp"

/// Absolute coordinates (Jain's fully augmented model): every body is free, all joints and loops
/// are held by multipliers. With δ_i = a_i − a°_i, the acceleration beyond that of q̈ = 0, and f°_i
/// the force that a°_i takes,
///
///   I_i δ_i = −f°_i + Σ (rows' wrenches) λ            (1)
///   T_iᵀ (δ_i − δ_λ(i)) = 0                           (2)  joints: T_iᵀ s_i = 0
///   fᵀ (δ_B − δ_A) = −β                               (3)  loop joints and rods
///   Σ slope t_jᵀ (δ_i − δ_λ(i)) = −β                  (4)  couplings, functions: t_jᵀ s_k = 1 for
///   j = k t_jᵀ (δ_i − δ_λ(i)) + μ / J = 0                   (5)  an armature J, with the force μ
///
/// and λ of K M⁻¹ Kᵀ λ = …, which has entries where rows share a body.
namespace kempe::detail {
namespace {

template <typename T>
using Six = Eigen::Matrix<T, 6, 1>;

/// An orthogonal basis of six directions, of which the first n span the same space as the first n
/// of `axes`: Gram-Schmidt on these and the unit vectors, applied twice because of rounding.
template <typename T>
void completeAxes(Six<T>* axes, int n) {
  int found = 0;
  const auto take = [&](Six<T> x) {
    const T before = std::sqrt(x.dot(x));
    for (int i = 0; i < 2 * found; ++i) {
      x -= axes[i % found].dot(x) * axes[i % found];
    }
    const T size = std::sqrt(x.dot(x));
    if (size > T(0.3) * before || found < n) {
      axes[found++] = (T(1) / size) * x;
    }
  };
  for (int i = 0; i < n; ++i) {
    take(axes[i]);
  }
  for (int i = 0; i < 6 && found < 6; ++i) {
    Six<T> unit = Six<T>::Zero();
    unit[i] = T(1);
    take(unit);
  }
}

template <typename T>
Six<T> six(const Motion<T>& m) {
  return {m.angular.x, m.angular.y, m.angular.z, m.linear.x, m.linear.y, m.linear.z};
}
template <typename T>
Six<T> six(const Force<T>& f) {
  return {f.moment.x, f.moment.y, f.moment.z, f.force.x, f.force.y, f.force.z};
}

/// The effect of one row on one body.
template <typename T>
struct RowPart {
  int row = 0;
  int body = 0;
  Six<T> wrench, motion;  // the second is M⁻¹ of the first
};

/// The rows of one evaluation and their solution.
template <typename T>
class FreeBodies {
 public:
  explicit FreeBodies(SpanningEvaluation<T>& evaluation)
      : s_(evaluation), work_(*evaluation.e.work), bodies_(evaluation.model.bodyCount) {}

  /// Inertias, dual directions of the joints and rows, at placed and moved bodies.
  void build(const ExternalForces<T, T>& external) {
    const TablesView<T>& tables = *s_.e.tables;
    duals_.resize(static_cast<std::size_t>(tables.velocities));
    delta_.assign(static_cast<std::size_t>(bodies_), Six<T>::Zero());
    inertias_.resize(static_cast<std::size_t>(bodies_));
    for (int b = 0; b < bodies_; ++b) {
      const BodyEntry<T>& body = tables.bodies[b];
      const PlacedInertia<T> inertia = placed(work_.X[b], body.central);
      const ArticulatedInertia<T> I = ArticulatedInertia<T>::fromRigid(aboutOrigin(inertia));
      for (int i = 0; i < 6; ++i) {
        for (int j = 0; j <= i; ++j) {
          inertias_[b][6 * i + j] = I.at(i, j);
        }
      }
      if (!choleskyFactor(inertias_[b].data(), 6)) {
        throw std::invalid_argument("method: body " + kempe::quoted(s_.e.impl.bodyNames[b]) +
                                    " has no inertia of its own, so that it cannot be free. Use "
                                    "another method than Method::Absolute.");
      }
      work_.f[b] = forceOn(inertia, work_.v[b], work_.a[b]);
    }
    subtractExternal(external, 0, bodies_, work_);
    addJoints();
    addLoops();
  }

  /// Forces along joints, wrenches on their two bodies.
  void addForce(int velocity, int b, const T& force) {
    const Six<T> wrench = force * duals_[velocity];
    load(b, wrench);
    load(s_.model.bodies[b].parent, -wrench);
  }

  void solve() {
    for (int b = 0; b < bodies_; ++b) {
      load(b, -six(work_.f[b]));
    }
    for (int b = 0; b < bodies_; ++b) {
      choleskySolve(inertias_[b].data(), 6, delta_[b].data());  // (1), without rows
    }
    const int n = static_cast<int>(rightSide_.size());
    std::stable_sort(parts_.begin(), parts_.end(),
                     [](const RowPart<T>& a, const RowPart<T>& b) { return a.row < b.row; });
    perBody_.assign(static_cast<std::size_t>(bodies_), {});
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      choleskySolve(inertias_[parts_[i].body].data(), 6, parts_[i].motion.data());
      rightSide_[parts_[i].row] -= parts_[i].wrench.dot(delta_[parts_[i].body]);
      perBody_[parts_[i].body].push_back(static_cast<int>(i));
    }
    A_.assign(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), T(0));
    first_.resize(static_cast<std::size_t>(n));
    for (int r = 0; r < n; ++r) {
      first_[r] = r;
      A_[r * n + r] = compliance_[r];
    }
    for (const std::vector<int>& sharing : perBody_) {
      for (const int i : sharing) {
        for (const int j : sharing) {
          const int row = parts_[i].row, column = parts_[j].row;
          if (column <= row) {
            A_[row * n + column] += parts_[i].wrench.dot(parts_[j].motion);
            first_[row] = std::min(first_[row], column);
          }
        }
      }
    }
    const int dependent = profileFactor(n, first_.data(), T(0), A_.data());
    if (dependent >= 0) {
      throw SingularityError(
          "the multipliers of joints and loops are not determined in this configuration", "",
          std::numeric_limits<double>::infinity());
    }
    profileSolve(n, first_.data(), A_.data(), rightSide_.data());
    profileSolveTransposed(n, first_.data(), A_.data(), rightSide_.data());
    for (const RowPart<T>& part : parts_) {
      delta_[part.body] += rightSide_[part.row] * part.motion;
    }
  }

  /// q̈ of a joint's DoF.
  T acceleration(int velocity, int b) const {
    const int parent = s_.model.bodies[b].parent;
    Six<T> relative = delta_[b];
    if (parent != kWorld) {
      relative -= delta_[parent];
    }
    return duals_[velocity].dot(relative);
  }

 private:
  void load(int b, const Six<T>& wrench) {
    if (b != kWorld) {
      delta_[b] += wrench;
    }
  }

  int addRow(const T& rightSide, const T& compliance = T(0)) {
    rightSide_.push_back(rightSide);
    compliance_.push_back(compliance);
    return static_cast<int>(rightSide_.size()) - 1;
  }
  void addPart(int row, int b, const Six<T>& wrench) {
    if (b != kWorld) {
      parts_.push_back({row, b, wrench, wrench});
    }
  }
  void addBetween(int row, int b, int other, const Six<T>& wrench) {
    addPart(row, b, wrench);
    addPart(row, other, -wrench);
  }

  /// (2), (5), and the dual directions.
  void addJoints() {
    const TablesView<T>& tables = *s_.e.tables;
    for (int b = 0; b < bodies_; ++b) {
      const BodyEntry<T>& body = tables.bodies[b];
      const int n = velocitySize(body.type);
      Six<T> axes[6];
      T gram[36];
      for (int j = 0; j < n; ++j) {
        axes[j] = six(work_.S[body.firstS + j]);
        for (int k = 0; k <= j; ++k) {
          gram[j * n + k] = axes[j].dot(axes[k]);
        }
      }
      choleskyFactor(gram, n);
      for (int j = 0; j < n; ++j) {
        T unit[6] = {};
        unit[j] = T(1);
        choleskySolve(gram, n, unit);
        duals_[body.firstVelocity + j].setZero();
        for (int k = 0; k < n; ++k) {
          duals_[body.firstVelocity + j] += unit[k] * axes[k];
        }
      }
      completeAxes(axes, n);
      for (int j = n; j < 6; ++j) {
        addBetween(addRow(T(0)), b, body.parent, axes[j]);
      }
      for (int j = 0; j < n; ++j) {
        const T J = tables.armature[body.firstVelocity + j];
        if (J > T(0)) {
          addBetween(addRow(T(0), T(1) / J), b, body.parent, duals_[body.firstVelocity + j]);
        }
      }
    }
  }

  /// (3) and (4), of rows that are not redundant.
  void addLoops() {
    ConstraintScratch<T>& scratch = s_.e.data.constraints;
    scratch.makeRoomForFunctions(s_.tree.loops);
    const StoredMotion<T> motion{work_};
    for (const ConstraintEntry& entry : s_.tree.loops.entries) {
      const auto terms = entry.terms.size();
      rows_.resize(static_cast<std::size_t>(entry.rows));
      slopes_.resize(static_cast<std::size_t>(entry.rows) * terms);
      if (entry.form.betweenBodies()) {
        bodyRows(entry, motion, rows_.data());
      } else {
        coordinateRows(entry, motion, 0.0, scratch.functions.view(), scratch.registers.data(),
                       rows_.data(), slopes_.data());
      }
      for (int r = 0; r < entry.rows; ++r) {
        if (s_.model.rowSlots[entry.firstRow + r] < 0) {
          continue;
        }
        const int row = addRow(-rows_[r].bias);
        if (entry.form.betweenBodies()) {
          addBetween(row, entry.successor.body, entry.predecessor.body, six(rows_[r].wrench));
        }
        for (std::size_t t = 0; t < terms; ++t) {
          const int b = entry.clusters[t];  // in a tree of single bodies
          addBetween(
              row, b, s_.e.tables->bodies[b].parent,
              slopes_[static_cast<std::size_t>(r) * terms + t] * duals_[entry.terms[t].velocity]);
        }
      }
    }
  }

  SpanningEvaluation<T>& s_;
  const WorkView<T>& work_;
  int bodies_;
  std::vector<Six<T>> duals_, delta_;        // per spanning velocity; per body: force, then δ
  std::vector<std::array<T, 36>> inertias_;  // factors
  std::vector<RowPart<T>> parts_;
  std::vector<std::vector<int>> perBody_;  // numbers of parts
  std::vector<T> rightSide_, compliance_, A_, slopes_;
  std::vector<int> first_;
  std::vector<ConstraintRow<T>> rows_;
};

}  // namespace

template <typename T>
void absoluteForwardDynamics(Evaluation<T>& e, const ExternalForces<T, T>& external,
                             VectorInOf<T> q, const T* v, const T* tau, T* a) {
  SpanningEvaluation<T> s(e);
  s.place(q, v);
  s.move(v, nullptr);
  T* rates = s.scratch.x.data();
  std::copy_n(e.work->rates, s.model.velocities, rates);
  std::copy_n(e.work->positions, s.model.positions, s.scratch.state.data());
  NoLoops noLoops;
  placeMechanism(*e.tables, *e.work, noLoops, s.scratch.state.data());
  e.move(rates, nullptr);
  FreeBodies<T> bodies(s);
  bodies.build(external);
  const auto bodyOf = [&](int velocity) {
    int b = 0;
    while (b + 1 < s.model.bodyCount && s.model.bodies[b + 1].firstVelocity <= velocity) {
      ++b;
    }
    return b;
  };
  for (int b = 0; b < s.model.bodyCount; ++b) {
    const BodyEntry<T>& body = e.tables->bodies[b];
    for (int i = body.firstVelocity; i < body.firstVelocity + velocitySize(body.type); ++i) {
      bodies.addForce(i, b, -resistance(*e.tables, i, rates[i]));
    }
    if (velocitySize(body.type) == 1) {
      bodies.addForce(body.firstVelocity, b, -springForce(*e.tables, body, *e.work));
    }
  }
  s.forIndependent([&](int i, int j) { bodies.addForce(i, bodyOf(i), tau[j]); });
  bodies.solve();
  s.forIndependent([&](int i, int j) { a[j] = bodies.acceleration(i, bodyOf(i)); });
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define KEMPE_INSTANTIATE(T)                                                            \
  template void absoluteForwardDynamics<T>(Evaluation<T>&, const ExternalForces<T, T>&, \
                                           VectorInOf<T>, const T*, const T*, T*);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace kempe::detail
