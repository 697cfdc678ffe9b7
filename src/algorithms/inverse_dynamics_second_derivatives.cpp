#include "kempe/inverse_dynamics_second_derivatives.hpp"

#include "algorithms/differentiable.hpp"
#include "algorithms/evaluation.hpp"
#include "algorithms/varied_mechanism.hpp"
#include "kempe/inverse_dynamics_derivatives.hpp"
#include "kernels/inverse_dynamics_derivatives.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

using Number = VariedMechanism::Number;

/// The recursion of first derivatives in dual numbers, in the memory of a Data.
class SecondDerivatives : public Evaluation<double> {
 public:
  SecondDerivatives(const Model& model, Data& userData, const DynamicsOptions& how)
      : Evaluation<double>(model, userData), external_(prepareExternal(how.external)) {
    if (how.method != Method::Cluster) {
      throw std::invalid_argument("derivatives are computed by Method::Cluster only");
    }
    requireDifferentiable(impl);
    requireRigid(impl, "second derivatives");
    Carver counter(nullptr);
    carve(counter);
    Carver carver(data.secondDerivatives.of(counter.used()));
    carve(carver);
    writeConstants(modelTables, view_);
    view_.wholeRotors = work->wholeRotors;
    for (int i = 0; i < 6 * external_.count; ++i) {
      wrenches_[i] = Number(external_.wrenches[i]);
    }
    for (int i = 0; i < modelTables.nv; ++i) {
      zeros_[i] = 0.0;
    }
  }

  void setState(VectorIn q, VectorIn v, VectorIn a, VectorIn lambda) {
    requireQ(q);
    requireInput("v", v);
    requireInput("a", a);
    requireInput("lambda", lambda);
    state_ = {q.data(), v.data(), a.data(), lambda.data()};
    place(q);  // G, for the directions of all joints
  }

  /// Calls write(j, ofQ, ofV, ofA) with the changes of entry j of λᵀ ∂τ/∂q, λᵀ ∂τ/∂v and λᵀ ∂τ/∂a
  /// along a direction.
  template <typename Write>
  void along(const double* dq, const double* dv, const double* da, const Write& write) {
    const TablesView<double>& t = modelTables;
    for (int c = 0; c < t.clusterCount; ++c) {
      const ClusterEntry& cluster = t.clusters[c];
      for (int i = 0; i < cluster.velocities; ++i) {
        double sum = 0.0;
        for (int j = 0; j < cluster.nv; ++j) {
          sum += ratio(cluster, i, j) * dq[cluster.firstV + j];
        }
        rates_[cluster.firstVelocity + i] = sum;
      }
    }
    varyPositions(t, state_.q, dq, rates_, q_);
    for (int i = 0; i < t.nv; ++i) {
      v_[i] = {state_.v[i], dv[i]};
      a_[i] = {state_.a[i], da[i]};
    }
    const int n = t.nv;
    const DerivativeMatrices<Number> result{{byQ_, n, 1}, {byV_, n, 1}, {byA_, n, 1}};
    const ExternalForces<Number, double> forces{external_.frames, wrenches_, external_.count};
    ImplicitLoops<Number> varied(t, impl.mechanism.functions, data.loops.forFunctions());
    InverseDynamicsDerivativesKernel kernel(t, view_, own_, forces, result);
    const int singular = kernel.template run<LevelByLevel>(varied, q_, v_, a_);
    if (singular >= 0) {
      throwSingular(singular, work->positions);
    }
    for (int j = 0; j < n; ++j) {
      double sums[3]{};
      for (int i = 0; i < n; ++i) {
        sums[0] += state_.lambda[i] * byQ_[i * n + j].slope;
        sums[1] += state_.lambda[i] * byV_[i * n + j].slope;
        sums[2] += state_.lambda[i] * byA_[i * n + j].slope;
      }
      write(j, sums[0], sums[1], sums[2]);
    }
  }

  /// e_k.
  const double* unit(int k) {
    for (int i = 0; i < modelTables.nv; ++i) {
      units_[i] = i == k ? 1.0 : 0.0;
    }
    return units_;
  }
  const double* zero() const { return zeros_; }

 private:
  void carve(Carver& carver) {
    const TablesView<double>& t = modelTables;
    carveStage(t, WorkStage::Motion, carver, view_);
    own_ = carveDerivatives<Number>(t, carver);
    q_ = carver.take<Number>(t.nq);
    v_ = carver.take<Number>(t.nv);
    a_ = carver.take<Number>(t.nv);
    byQ_ = carver.take<Number>(t.nv * t.nv);
    byV_ = carver.take<Number>(t.nv * t.nv);
    byA_ = carver.take<Number>(t.nv * t.nv);
    rates_ = carver.take<double>(t.velocities);
    units_ = carver.take<double>(t.nv);
    zeros_ = carver.take<double>(t.nv);
    wrenches_ = carver.take<Number>(6 * external_.count);
  }
  double ratio(const ClusterEntry& cluster, int i, int j) const {
    return cluster.kind == ClusterKind::Tree ? (i == j ? 1.0 : 0.0)
                                             : work->G[cluster.firstRatio + i * cluster.nv + j];
  }

  ExternalForces<double, double> external_;
  struct State {
    const double *q = nullptr, *v = nullptr, *a = nullptr, *lambda = nullptr;
  };
  State state_;
  WorkView<Number> view_;
  DerivativeWork<Number> own_{};
  Number *q_ = nullptr, *v_ = nullptr, *a_ = nullptr;
  Number *byQ_ = nullptr, *byV_ = nullptr, *byA_ = nullptr;
  double *rates_ = nullptr, *units_ = nullptr, *zeros_ = nullptr;
  Number* wrenches_ = nullptr;
};

}  // namespace

void inverseDynamicsHessianProduct(const Model& model, Data& data, VectorIn q, VectorIn v,
                                   VectorIn a, VectorIn lambda, VectorIn dq, VectorIn dv,
                                   VectorIn da, VectorOut byQ, VectorOut byV, VectorOut byA,
                                   const DynamicsOptions& options) {
  SecondDerivatives e(model, data, options);
  e.requireInput("dq", dq);
  e.requireInput("dv", dv);
  e.requireInput("da", da);
  e.requireOutput("byQ", byQ);
  e.requireOutput("byV", byV);
  e.requireOutput("byA", byA);
  e.setState(q, v, a, lambda);
  e.along(dq.data(), dv.data(), da.data(), [&](int j, double ofQ, double ofV, double ofA) {
    byQ[j] = ofQ;
    byV[j] = ofV;
    byA[j] = ofA;
  });
}

void inverseDynamicsSecondDerivatives(const Model& model, Data& data, VectorIn q, VectorIn v,
                                      VectorIn a, VectorIn lambda, MatrixOut qq, MatrixOut qv,
                                      MatrixOut vv, MatrixOut qa, const DynamicsOptions& options) {
  SecondDerivatives e(model, data, options);
  const int n = model.nv();
  e.requireMatrix("qq", qq, n, n);
  e.requireMatrix("qv", qv, n, n);
  e.requireMatrix("vv", vv, n, n);
  e.requireMatrix("qa", qa, n, n);
  e.setState(q, v, a, lambda);
  for (int k = 0; k < n; ++k) {
    e.along(e.unit(k), e.zero(), e.zero(), [&](int j, double ofQ, double ofV, double ofA) {
      qq(j, k) = ofQ;
      qv(k, j) = ofV;  // derivatives with respect to q and v commute
      qa(k, j) = ofA;
    });
  }
  for (int k = 0; k < n; ++k) {
    e.along(e.zero(), e.unit(k), e.zero(),
            [&](int j, double /*ofQ*/, double ofV, double /*ofA*/) { vv(j, k) = ofV; });
  }
}

}  // namespace kempe
