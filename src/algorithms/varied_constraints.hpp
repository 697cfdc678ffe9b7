#pragma once

#include "algorithms/varied_mechanism.hpp"
#include "constraints/active.hpp"
#include "kernels/constraint_forces.hpp"
#include "kernels/constraint_jacobian.hpp"
#include "kernels/inverse_dynamics.hpp"
#include "kernels/terms.hpp"

namespace kempe::detail {

/// Derivatives of inverse dynamics under constraint forces, and of the rows of constraints, by dual
/// numbers: with K as it varies, of
///
///   ID(q, v, a) − Kᵀ λ,   φ̇ = K v + ∂φ/∂t,   φ̈ = K a + β         along q and v, at constant a and λ   (1)
///   H x − Kᵀ λ                                                along q, at constant x and λ       (2)
///
/// For models with flexible bodies, in place of the recursions in kernels/ and of
/// constraints/row_derivatives.hpp. All matrices are row-major.
template <typename T>
class VariedConstraints {
 public:
  using Number = VariedState::Number;

  VariedConstraints(const ModelImpl& model, const FunctionScratch& functions,
                    const ActiveConstraints& active, const FunctionScratch& functionsOfRows,
                    int forces, Carver& carver)
      : state_(model, functions, WorkStage::Articulated, carver),
        active_(active),
        functions_(functionsOfRows),
        nv_(state_.tables.nv) {
    const int n = active.rows;
    tau_ = carver.take<Number>(nv_);
    wrenches_ = carver.take<Number>(6 * forces);
    frames_ = carver.take<BodyFrame<double>>(forces);
    rows_ = carver.take<ConstraintRow<Number>>(n);
    slopes_ = carver.take<Number>(active.slopes);
    registers_ = carver.take<Number>(active.functionNumbers);
    K_ = carver.take<Number>(n * nv_);
    H_ = carver.take<Number>(nv_ * nv_);
    for (T** part : {&ofRate, &ofK, &secondByQ, &secondByV}) {
      *part = carver.take<T>(n * nv_);
    }
  }

  /// (1) of the first two into byQ and byV, of the rows into the matrices below, and H. Returns the
  /// first cluster at a singular position, or −1.
  int evaluate(double time, const T* q, const T* v, const T* a, const T* lambda,
               const ExternalForces<T, T>& external, T* byQ, T* byV, T* H) {
    state_.set(q, v, a, true);
    const ExternalForces<Number, double> forces = varied(external);
    const int singular = writeInertia(H);
    if (singular >= 0) {
      return singular;
    }
    for (int k = 0; k < nv_; ++k) {
      state_.vary(state_.unit(k), nullptr, nullptr);
      place(time);
      for (int r = 0; r < active_.rows; ++r) {
        T sum(0);
        for (int j = 0; j < nv_; ++j) {
          sum += static_cast<T>(K_[r * nv_ + j].slope) * v[j];
        }
        ofK[r * nv_ + k] = sum;
        ofRate[r * nv_ + k] = static_cast<T>(rows_[r].rate.slope);
        secondByQ[r * nv_ + k] = static_cast<T>(rows_[r].bias.slope);
      }
      writeForces(forces, lambda, k, byQ);
    }
    for (int k = 0; k < nv_; ++k) {
      state_.vary(nullptr, state_.unit(k), nullptr);
      place(time);
      for (int r = 0; r < active_.rows; ++r) {
        secondByV[r * nv_ + k] = static_cast<T>(rows_[r].bias.slope);
      }
      writeForces(forces, lambda, k, byV);
    }
    return -1;
  }

  /// (2) into byQ, and H; returns the same.
  int evaluateInertial(double time, const T* q, const T* x, const T* lambda, T* byQ, T* H) {
    state_.set<T>(q, nullptr, nullptr, true);
    const int singular = writeInertia(H);
    for (int k = 0; singular < 0 && k < nv_; ++k) {
      state_.vary(state_.unit(k), nullptr, nullptr);
      place(time);
      computeInertia();
      for (int i = 0; i < nv_; ++i) {
        double sum = constraintForceSlope(lambda, i);
        for (int j = 0; j < nv_; ++j) {
          sum += H_[i * nv_ + j].slope * static_cast<double>(x[j]);
        }
        byQ[i * nv_ + k] = static_cast<T>(sum);
      }
    }
    return singular;
  }

  // Rows × nv, of the last evaluate():
  T* ofRate;                 ///< ∂φ̇/∂q
  T* ofK;                    ///< ∂(K v)/∂q
  T *secondByQ, *secondByV;  ///< ∂φ̈/∂q, ∂φ̈/∂v

 private:
  ExternalForces<Number, double> varied(const ExternalForces<T, T>& external) const {
    for (int i = 0; i < external.count; ++i) {
      const BodyFrame<T>& frame = external.frames[i];
      frames_[i] = {frame.body, frame.inBody.template cast<double>(), frame.reference};
    }
    for (int i = 0; i < 6 * external.count; ++i) {
      wrenches_[i] = Number(static_cast<double>(external.wrenches[i]));
    }
    return {frames_, wrenches_, external.count};
  }

  /// The motion of all bodies, the rows and K as they vary.
  void place(double time) {
    state_.place();
    for (int c = 0; c < state_.tables.clusterCount; ++c) {
      moveBodies(state_.tables, c, state_.work, state_.loops, state_.v, state_.a);
    }
    const ConstraintWork<Number> rows{active_.list.data(),
                                      static_cast<int>(active_.list.size()),
                                      active_.rows,
                                      rows_,
                                      slopes_,
                                      nullptr,
                                      nullptr};
    evaluateConstraints(rows, StoredMotion<Number>{state_.work}, time, functions_, registers_);
    for (const ActiveConstraint& active : active_.list) {
      const int terms = static_cast<int>(active.entry->terms.size());
      for (int r = 0; r < active.entry->rows; ++r) {
        const int row = active.firstRow + r;
        writeConstraintRow(state_.tables, state_.work, *active.entry, rows_[row].wrench,
                           slopes_ + active.firstSlope + r * terms, K_ + row * nv_);
      }
    }
  }

  /// −∂(Kᵀ λ)_i.
  double constraintForceSlope(const T* lambda, int i) const {
    double sum = 0.0;
    for (int r = 0; r < active_.rows; ++r) {
      sum -= static_cast<double>(lambda[r]) * K_[r * nv_ + i].slope;
    }
    return sum;
  }
  /// Column k of the first of (1), after place().
  void writeForces(const ExternalForces<Number, double>& forces, const T* lambda, int k, T* to) {
    inverseDynamicsKernel(state_.tables, state_.work, state_.loops, state_.q, state_.v, state_.a,
                          forces, tau_);
    for (int i = 0; i < nv_; ++i) {
      to[i * nv_ + k] = static_cast<T>(tau_[i].slope + constraintForceSlope(lambda, i));
    }
  }

  void computeInertia() {
    TermRequest<Number, double> request;
    request.H = H_;
    request.stride = nv_;
    writeTerms<Number, double>(state_.tables, state_.work, nullptr, nullptr, request);
  }
  /// H where the state does not vary, and G there.
  int writeInertia(T* H) {
    const int singular = state_.findRatios();
    if (singular < 0) {
      computeInertia();
      for (int i = 0; i < nv_ * nv_; ++i) {
        H[i] = static_cast<T>(H_[i].value);
      }
    }
    return singular;
  }

  VariedState state_;
  const ActiveConstraints& active_;
  FunctionScratch functions_;  // of rows
  int nv_;
  Number *tau_, *wrenches_, *slopes_, *registers_, *K_, *H_;
  BodyFrame<double>* frames_;
  ConstraintRow<Number>* rows_;
};

}  // namespace kempe::detail
