#pragma once

#include "constraints/active.hpp"
#include "constraints/constraint_rows.hpp"
#include "kempe/spatial/factorization.hpp"
#include "loops/varied_ends.hpp"
#include "spatial/joint_motion.hpp"

/// Derivatives of the rows of constraints and of their forces along the DoFs.
///
/// Between two bodies, φ̇ = fᵀ (v_B − v_A) and φ̈ = fᵀ (a_B − a_A) + ḟᵀ (v_B − v_A) change with the
/// Variations of the two ends (varied_ends.hpp). Along coordinates, with slopes c = ∂φ/∂q and δφ̇, δφ̈ of
/// SecondOrder (coordinate_rows.hpp), where q changes by ξ = G e_j, and W, Z, Y of loop_derivatives.hpp,
///
///   ∂φ̇/∂y_j = δφ̇(ξ) + Σ c_t W_tj                                               (1)
///   ∂φ̈/∂y_j = δφ̈(ξ, W_j) + Σ c_t Z_tj                                          (2)
///   ∂φ̈/∂ẏ_j = δφ̈(0, ξ) + Σ c_t Y_tj                                            (3)
///
/// The constraint forces Kᵀ λ with constant λ change because f and c do, and because bodies turn and
/// dependent joints follow. The latter is the business of the derivatives of inverse dynamics, which
/// take wrenches that turn with their bodies and constant forces along joints. Left of the former are
///
///   F_B = δf − D_B ×* f,   F_A = −(δf − D_A ×* f)    between bodies             (4)
///   Σ λ δc_t(ξ)                                      along coordinate t         (5)
///
/// `Columns` is MotionDerivatives of kernels/motion_derivatives.hpp, `Changes` its work.
namespace kempe::detail {

/// Memory of the class below.
template <typename T>
struct RowDerivativeWork {
  T* registers;                ///< of the programs of a function
  T* functions;                ///< results of FunctionPrograms::secondOrder of one function
  int *carriersA, *carriersB;  ///< per cluster: its body that carries an end, or kWorld
};

/// Takes the memory for these constraints.
template <typename T>
RowDerivativeWork<T> carveRowDerivatives(const ActiveConstraints& active, int clusters,
                                         Carver& carver) {
  int registers = 0, numbers = 0;
  for (const ActiveConstraint& own : active.list) {
    registers = std::max(registers, own.entry->programs.secondOrder.registers());
    numbers = std::max(numbers, own.entry->programs.secondOrder.results);
  }
  RowDerivativeWork<T> work;
  work.registers = carver.take<T>(registers);
  work.functions = carver.take<T>(numbers);
  work.carriersA = carver.take<int>(clusters);
  work.carriersB = carver.take<int>(clusters);
  return work;
}

/// A row-major matrix with a column for each DoF.
template <typename T>
struct RowMatrix {
  T* numbers = nullptr;
  int columns = 0;

  T& operator()(int r, int j) const { return numbers[r * columns + j]; }
  void clear(int rows) const { std::fill_n(numbers, rows * columns, T(0)); }
};

/// At bodies that have been placed and move, with actual accelerations where φ̈ is asked for.
template <typename T, typename Columns, typename Changes>
class RowDerivatives {
 public:
  RowDerivatives(const TablesView<T>& tables, const WorkView<T>& work, const Columns& columns,
                 const Changes& changes, const ActiveConstraints& active, const T* slopes,
                 double time, const RowDerivativeWork<T>& own)
      : tables_(tables),
        work_(work),
        columns_(columns),
        changes_(changes),
        active_(active),
        slopes_(slopes),
        time_(time),
        own_(own) {}

  /// K.
  void jacobian(const RowMatrix<T>& K) const {
    K.clear(active_.rows);
    forBodyColumns([&](const Between& between, int j, const Ends& at) {
      const Motion<T> S = at.B.S - at.A.S;
      between.forRows([&](int r, const auto& row) { K(r, j) = dot(row.wrench(), S); });
    });
    forCoordinates([&](const Along& along, int r, int j) {
      K(along.row(r), j) = along.slopes(r, along.position(j));
    });
  }

  /// The largest summand of K, before any cancellation; ratios G count as one.
  T reach() const {
    using std::abs;
    using std::max;
    using std::sqrt;
    const auto length = [](const Vec3<T>& x) { return sqrt(dot(x, x)); };
    T largest(0);
    forBodyColumns([&](const Between& between, int, const Ends& at) {
      between.forRows([&](int, const auto& row) {
        const Force<T> f = row.wrench();
        for (const Motion<T>& S : {at.A.S, at.B.S}) {
          largest = max(largest,
                        length(f.force) * length(S.linear) + length(f.moment) * length(S.angular));
        }
      });
    });
    for (const ActiveConstraint& active : active_.list) {
      const int slopes = active.entry->rows * static_cast<int>(active.entry->terms.size());
      for (int i = 0; i < slopes; ++i) {
        largest = max(largest, abs(slopes_[active.firstSlope + i]));
      }
    }
    return largest;
  }

  /// ∂φ̇/∂q; without the part that explicit functions of time have in φ̇, it is ∂(K v)/∂q.
  void rates(bool ofTime, const RowMatrix<T>& byQ) const {
    byQ.clear(active_.rows);
    forBodyColumns([&](const Between& between, int j, const Ends& at) {
      const VariedEnds<T> ends = between.along(at);
      between.forRows([&](int r, const auto& row) { byQ(r, j) = ends.rateChange(row); });
    });
    forCoordinates([&](const Along& along, int r, int j) {
      const auto xi = along.position(j);
      byQ(along.row(r), j) =
          (ofTime ? along.second().rateChange(r, xi) : along.constantTime(r, xi)) +
          along.slopes(r, along.rate(j));  // (1)
    });
  }

  /// Derivatives of φ̈.
  void accelerations(const RowMatrix<T>& byQ, const RowMatrix<T>& byV) const {
    byQ.clear(active_.rows);
    byV.clear(active_.rows);
    forBodyColumns([&](const Between& between, int j, const Ends& at) {
      between.forAccelerations(between.along(at),
                               [&](int r, const T& change) { byQ(r, j) = change; });
      between.forAccelerations(between.alongRate(at),
                               [&](int r, const T& change) { byV(r, j) = change; });
    });
    forCoordinates([&](const Along& along, int r, int j) {
      const auto xi = along.position(j);
      const auto none = [](int) { return T(0); };
      byQ(along.row(r), j) = along.second().secondRateChange(r, xi, along.rate(j)) +
                             along.slopes(r, along.acceleration(j));  // (2)
      byV(along.row(r), j) = along.second().secondRateChange(r, none, xi) +
                             along.slopes(r, along.accelerationByRate(j));  // (3)
    });
  }

  /// Makes of these derivatives those of φ̈ + d φ̇ + γ² φ, with d = 2 γ where there is a φ, otherwise γ.
  /// `K` and `rates` are those of the functions above.
  void stabilize(const T& gamma, const RowMatrix<T>& K, const RowMatrix<T>& rates,
                 const RowMatrix<T>& byQ, const RowMatrix<T>& byV) const {
    for (const ActiveConstraint& active : active_.list) {
      for (int r = 0; r < active.entry->rows; ++r) {
        const int i = active.firstRow + r;
        const bool holonomic = isHolonomic(*active.entry, r);
        const T damping = holonomic ? gamma + gamma : gamma;
        for (int j = 0; j < tables_.nv; ++j) {
          byQ(i, j) += damping * rates(i, j) + (holonomic ? gamma * gamma * K(i, j) : T(0));
          byV(i, j) += damping * K(i, j);
        }
      }
      if (active.entry->form.kind == RowKind::Lock) {
        turnLock(active, gamma * gamma, K, byQ);
      }
    }
  }

  /// f of Σ λ f of each constraint between bodies: visit(body, f) for its two ends.
  template <typename Visit>
  void wrenches(const T* lambda, const Visit& visit) const {
    for (const ActiveConstraint& active : active_.list) {
      if (active.entry->form.betweenBodies()) {
        const Between between(*this, active);
        const Force<T> f = between.sum(lambda);
        visit(active.entry->successor.body, f);
        visit(active.entry->predecessor.body, -f);
      }
    }
  }
  /// Adds λ c to the spanning forces.
  void jointForces(const T* lambda, T* forces) const {
    for (const ActiveConstraint& active : active_.list) {
      const T* slope = slopes_ + active.firstSlope;
      for (int r = active.firstRow; r < active.firstRow + active.entry->rows; ++r) {
        for (const auto& term : active.entry->terms) {
          forces[term.velocity] += lambda[r] * *slope++;
        }
      }
    }
  }
  /// Subtracts the generalised forces of (4) and (5) from the columns of an nv × nv matrix.
  void subtractForceChanges(const T* lambda, const RowMatrix<T>& byQ) const {
    for (const ActiveConstraint& active : active_.list) {
      if (active.entry->form.betweenBodies()) {
        const Between between(*this, active);
        const Force<T> f = between.sum(lambda);
        forColumns(*active.entry, [&](int j, const Ends& at) {
          const VariedEnds<T> ends = between.along(at);
          Force<T> change{};
          between.forRows(
              [&](int r, const auto& row) { change += lambda[r] * ends.wrenchChange(row); });
          const Force<T> onB = change - cross(at.B.S, f);  // (4)
          const Force<T> onA = cross(at.A.S, f) - change;
          forMoved(*active.entry, [&](int k, const Motion<T>& SA, const Motion<T>& SB) {
            byQ(k, j) -= dot(onA, SA) + dot(onB, SB);
          });
        });
      }
    }
    forCoordinates([&](const Along& along, int r, int j) {
      const auto xi = along.position(j);
      for (int t = 0; t < along.terms(); ++t) {
        const T change = lambda[along.row(r)] * along.second().slopeChange(r, t, xi);  // (5)
        forDofsOf(along.entry(), t, [&](int k, const T& ratio) { byQ(k, j) -= ratio * change; });
      }
    });
  }

 private:
  /// The columns of one DoF for the two ends; zero where it does not move one.
  struct Ends {
    using Column = decltype(std::declval<const Columns&>().columnsOf(
        std::declval<const ClusterEntry&>(), 0, 0));
    Column A{}, B{};
  };

  /// A constraint between two bodies.
  class Between {
   public:
    Between(const RowDerivatives& all, const ActiveConstraint& active)
        : active_(active),
          A_(StoredMotion<T>{all.work_}.end(active.entry->predecessor)),
          B_(StoredMotion<T>{all.work_}.end(active.entry->successor)) {}

    /// Calls visit(r, row) with r counted over all rows that are on.
    template <typename Visit>
    void forRows(const Visit& visit) const {
      forBodyRows(active_.entry->form, active_.entry->rows, A_.X, B_.X,
                  [&](int r, const auto& row) { visit(active_.firstRow + r, row); });
    }
    template <typename Visit>
    void forAccelerations(const VariedEnds<T>& ends, const Visit& visit) const {
      ends.forAccelerationChanges(
          active_.entry->form, active_.entry->rows, [](int) { return true; },
          [&](int r, const T& change) { visit(active_.firstRow + r, change); });
    }
    /// The ends along y_j, and along ẏ_j.
    VariedEnds<T> along(const Ends& at) const {
      return {A_, B_, {at.A.S, at.A.P, at.A.Q}, {at.B.S, at.B.P, at.B.Q}};
    }
    VariedEnds<T> alongRate(const Ends& at) const {
      return {A_, B_, {{}, at.A.S, at.A.Qv}, {{}, at.B.S, at.B.Qv}};
    }
    Force<T> sum(const T* lambda) const {
      Force<T> f{};
      forRows([&](int r, const auto& row) { f += lambda[r] * row.wrench(); });
      return f;
    }

   private:
    const ActiveConstraint& active_;
    EndMotion<T> A_, B_;
  };

  void findCarriers(const ConstraintEntry& entry) const {
    for (const int p : entry.path) {
      own_.carriersA[p] = own_.carriersB[p] = kWorld;
    }
    const auto walk = [&](int body, int* carriers) {
      while (body != kWorld) {
        const int c = tables_.bodies[body].cluster;
        carriers[c] = body;
        body = tables_.clusters[c].output;
      }
    };
    walk(entry.predecessor.body, own_.carriersA);
    walk(entry.successor.body, own_.carriersB);
  }
  /// Calls visit(j, ends) for the DoFs that move an end of a constraint between bodies.
  template <typename Visit>
  void forColumns(const ConstraintEntry& entry, const Visit& visit) const {
    findCarriers(entry);
    for (const int p : entry.path) {
      const ClusterEntry& cluster = tables_.clusters[p];
      for (int i = 0; i < cluster.nv; ++i) {
        Ends at;
        if (own_.carriersA[p] != kWorld) {
          at.A = columns_.columnsOf(cluster, own_.carriersA[p], i);
        }
        if (own_.carriersB[p] != kWorld) {
          at.B = columns_.columnsOf(cluster, own_.carriersB[p], i);
        }
        visit(cluster.firstV + i, at);
      }
    }
  }
  /// Calls visit(k, S of A, S of B) likewise, within forColumns.
  template <typename Visit>
  void forMoved(const ConstraintEntry& entry, const Visit& visit) const {
    for (const int p : entry.path) {
      const ClusterEntry& cluster = tables_.clusters[p];
      const auto of = [&](int carrier, int i) {
        return carrier == kWorld ? Motion<T>{} : columns_.columnsOf(cluster, carrier, i).S;
      };
      for (int i = 0; i < cluster.nv; ++i) {
        visit(cluster.firstV + i, of(own_.carriersA[p], i), of(own_.carriersB[p], i));
      }
    }
  }
  template <typename Visit>
  void forBodyColumns(const Visit& visit) const {
    for (const ActiveConstraint& active : active_.list) {
      if (active.entry->form.betweenBodies()) {
        const Between between(*this, active);
        forColumns(*active.entry, [&](int j, const Ends& at) { visit(between, j, at); });
      }
    }
  }

  // --- along coordinates -------------------------------------------------------------------------

  /// A constraint along coordinates. Its coordinates t, of which the last may be time, change along a
  /// DoF by the results of position(j), …, accelerationByRate(j).
  class Along {
   public:
    Along(const RowDerivatives& all, const ActiveConstraint& active) : all_(all), active_(active) {
      const StoredMotion<T> motion{all.work_};
      const ConstraintPoint<T, StoredMotion<T>> x{*active.entry, motion, all.time_};
      const RowDerivativeWork<T>& own = all.own_;
      withConstraintRows(x, FunctionWork<T>{own.registers, own.registers, {}},
                         [&](const auto& rows) {
                           rows.prepareSecondOrder(own.registers, own.functions);
                           second_ = rows.secondOrder(own.functions);
                         });
    }

    [[nodiscard]] const ConstraintEntry& entry() const { return *active_.entry; }
    [[nodiscard]] const SecondOrder<T>& second() const { return second_; }
    [[nodiscard]] int terms() const { return static_cast<int>(entry().terms.size()); }
    [[nodiscard]] int row(int r) const { return active_.firstRow + r; }

    [[nodiscard]] auto position(int j) const {
      return of(j, [this](const ClusterEntry& cluster, int velocity, int i) {
        return all_.columns_.ratio(cluster, velocity, i);
      });
    }
    [[nodiscard]] auto rate(int j) const { return of(j, changes(all_.changes_.W)); }
    [[nodiscard]] auto acceleration(int j) const { return of(j, changes(all_.changes_.Z)); }
    [[nodiscard]] auto accelerationByRate(int j) const { return of(j, changes(all_.changes_.Y)); }

    /// Σ c change(t)
    template <typename Change>
    T slopes(int r, const Change& change) const {
      const T* slopes = all_.slopes_ + active_.firstSlope + r * terms();
      T sum(0);
      for (int t = 0; t < terms(); ++t) {
        sum += slopes[t] * change(t);
      }
      return sum;
    }
    /// δφ̇ without the part that time has in it.
    template <typename Change>
    T constantTime(int r, const Change& xi) const {
      T sum(0);
      for (int t = 0; t < terms(); ++t) {
        sum += second_.slopeChange(r, t, xi) * all_.work_.rates[entry().terms[t].velocity];
      }
      return sum;
    }

   private:
    template <typename Entry>
    auto of(int j, const Entry& change) const {
      return [this, j, change](int t) {
        if (t >= terms()) {
          return T(0);  // time
        }
        const ClusterEntry& cluster = all_.tables_.clusters[entry().clusters[t]];
        const int i = j - cluster.firstV;
        return i < 0 || i >= cluster.nv ? T(0) : change(cluster, entry().terms[t].velocity, i);
      };
    }
    auto changes(const T* matrix) const {
      return [this, matrix](const ClusterEntry& cluster, int velocity, int i) {
        return all_.columns_.change(cluster, matrix, velocity, i);
      };
    }

    const RowDerivatives& all_;
    const ActiveConstraint& active_;
    SecondOrder<T> second_{};
  };

  /// Calls visit(along, r, j) for the rows r of each constraint along coordinates, and the DoFs j on
  /// its path.
  template <typename Visit>
  void forCoordinates(const Visit& visit) const {
    for (const ActiveConstraint& active : active_.list) {
      if (active.entry->form.betweenBodies()) {
        continue;
      }
      const Along along(*this, active);
      for (const int p : active.entry->path) {
        const ClusterEntry& cluster = tables_.clusters[p];
        for (int j = cluster.firstV; j < cluster.firstV + cluster.nv; ++j) {
          for (int r = 0; r < active.entry->rows; ++r) {
            visit(along, r, j);
          }
        }
      }
    }
  }
  /// Calls visit(k, ratio) for the DoFs that move the coordinate of term t.
  template <typename Visit>
  void forDofsOf(const ConstraintEntry& entry, int t, const Visit& visit) const {
    const ClusterEntry& cluster = tables_.clusters[entry.clusters[t]];
    for (int i = 0; i < cluster.nv; ++i) {
      visit(cluster.firstV + i, columns_.ratio(cluster, entry.terms[t].velocity, i));
    }
  }

  /// γ² ∂φ/∂q of a lock whose φ are not plain numbers: a velocity ω changes φ by J⁻¹ ω with J of
  /// retractJacobian(), where stabilize() has counted it as ω.
  void turnLock(const ActiveConstraint& active, const T& square, const RowMatrix<T>& K,
                const RowMatrix<T>& byQ) const {
    const ConstraintEntry& entry = *active.entry;
    if (hasScalarCoordinates(entry.jointType)) {
      return;
    }
    const int rows = entry.rows;
    double at[7]{}, errors[6]{}, J[36]{};
    for (std::size_t i = 0; i < entry.reference.size(); ++i) {
      at[i] = static_cast<double>(work_.positions[entry.terms[0].position + static_cast<int>(i)]);
    }
    lockErrors(entry, at, errors);
    retractJacobian(entry.jointType, errors, J);
    int pivots[6]{};
    luFactor(J, rows, pivots);
    for (int j = 0; j < tables_.nv; ++j) {
      double change[6]{};
      for (int r = 0; r < rows; ++r) {
        change[r] = static_cast<double>(K(active.firstRow + r, j));
      }
      luSolve(J, rows, pivots, change, 1);
      for (int r = 0; r < rows; ++r) {
        byQ(active.firstRow + r, j) +=
            square * (static_cast<T>(change[r]) - K(active.firstRow + r, j));
      }
    }
  }

  const TablesView<T>& tables_;
  const WorkView<T>& work_;
  const Columns& columns_;
  const Changes& changes_;
  const ActiveConstraints& active_;
  const T* slopes_;
  double time_;
  RowDerivativeWork<T> own_;
};

}  // namespace kempe::detail
