#include "kempe/inverse_dynamics_second_derivatives.hpp"

#include <optional>

#include "algorithms/differentiable.hpp"
#include "algorithms/varied_dynamics.hpp"
#include "algorithms/varied_mechanism.hpp"
#include "kempe/inverse_dynamics_derivatives.hpp"
#include "kernels/inverse_dynamics.hpp"
#include "kernels/inverse_dynamics_derivatives.hpp"
#include "kernels/terms.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

using Number = VariedState::Number;
using Nested = Dual<Number>;

/// The recursion of first derivatives in dual numbers.
struct VariedDerivatives {
  VariedDerivatives(const ModelImpl& model, const FunctionScratch& functions, int forces,
                    Carver& carver)
      : state(model, functions, WorkStage::Motion, carver),
        own(carveDerivatives<Number>(state.tables, carver)) {
    const int n = state.tables.nv;
    for (Number** part : {&byQ, &byV, &byA}) {
      *part = carver.take<Number>(n * n);
    }
    wrenches = carver.take<Number>(6 * forces);
  }

  VariedState state;
  DerivativeWork<Number> own;
  Number *byQ, *byV, *byA, *wrenches;
};

/// Inverse dynamics in dual numbers of dual numbers, for models with flexible bodies, whose first
/// derivatives have no recursion: along a direction, then along each e_j. H varies along the first only.
struct TwiceVaried {
  TwiceVaried(const ModelImpl& model, const FunctionScratch& functions, int forces, Carver& carver)
      : state(model, functions, WorkStage::Articulated, carver),
        twice(model, functions, WorkStage::Motion, carver) {
    const int n = state.tables.nv;
    H = carver.take<Number>(n * n);
    tau = carver.take<Nested>(n);
    wrenches = carver.take<Nested>(6 * forces);
  }

  VariedState state;
  BasicVariedState<Number> twice;
  Number* H;
  Nested *tau, *wrenches;
};

/// Derivatives of λᵀ τ of second order, in the memory of a Data.
class SecondDerivatives : public Evaluation<double> {
 public:
  SecondDerivatives(const Model& model, Data& userData, const DynamicsOptions& how)
      : Evaluation<double>(model, userData), external_(prepareExternal(how.external)) {
    if (how.method != Method::Cluster) {
      throw std::invalid_argument("derivatives are computed by Method::Cluster only");
    }
    requireDifferentiable(impl);
    if (takesVariedDynamics(impl)) {
      twice_.emplace(carved<TwiceVaried>());
    } else {
      once_.emplace(carved<VariedDerivatives>());
    }
  }

  void setState(VectorIn q, VectorIn v, VectorIn a, VectorIn lambda) {
    requireQ(q);
    requireInput("v", v);
    requireInput("a", a);
    requireInput("lambda", lambda);
    q_ = q.data();
    lambda_ = lambda.data();
    state().set(q.data(), v.data(), a.data(), work->wholeRotors);
    requireRegular(state().findRatios());
  }

  /// Calls write(j, ofQ, ofV, ofA) with the changes of entry j of λᵀ ∂τ/∂q, λᵀ ∂τ/∂v and λᵀ ∂τ/∂a
  /// along a direction; those that are null are zero.
  template <typename Write>
  void along(const double* dq, const double* dv, const double* da, const Write& write) {
    state().vary(dq, dv, da);
    if (twice_) {
      alongTwice(*twice_, write);
    } else {
      alongOnce(*once_, write);
    }
  }

  /// e_k.
  const double* unit(int k) { return state().unit(k); }

 private:
  template <typename Work>
  Work carved() {
    Work made =
        carvedFrom<Work>(data.secondDerivatives, impl, data.loops.forFunctions(), external_.count);
    using Scalar = std::remove_pointer_t<decltype(made.wrenches)>;
    for (int i = 0; i < 6 * external_.count; ++i) {
      made.wrenches[i] = Scalar(external_.wrenches[i]);
    }
    return made;
  }
  VariedState& state() { return twice_ ? twice_->state : once_->state; }
  void requireRegular(int singular) const {
    require({singular, -1}, Eigen::Map<const Eigen::VectorXd>(q_, modelTables.nq));
  }

  template <typename Write>
  void alongOnce(VariedDerivatives& m, const Write& write) {
    VariedState& varied = m.state;
    const int n = modelTables.nv;
    const DerivativeMatrices<Number> result{{m.byQ, n, 1}, {m.byV, n, 1}, {m.byA, n, 1}};
    const ExternalForces<Number, double> forces{external_.frames, m.wrenches, external_.count};
    InverseDynamicsDerivativesKernel kernel(varied.tables, varied.work, m.own, forces, result);
    requireRegular(kernel.template run<LevelByLevel>(varied.loops, varied.q, varied.v, varied.a));
    for (int j = 0; j < n; ++j) {
      double sums[3]{};
      for (int i = 0; i < n; ++i) {
        sums[0] += lambda_[i] * m.byQ[i * n + j].slope;
        sums[1] += lambda_[i] * m.byV[i * n + j].slope;
        sums[2] += lambda_[i] * m.byA[i * n + j].slope;
      }
      write(j, sums[0], sums[1], sums[2]);
    }
  }

  template <typename Write>
  void alongTwice(TwiceVaried& m, const Write& write) {
    VariedState& varied = m.state;
    BasicVariedState<Number>& twice = m.twice;
    const int n = modelTables.nv;
    requireRegular(varied.place());
    TermRequest<Number, double> request;
    request.H = m.H;
    request.stride = n;
    writeTerms<Number, double>(varied.tables, varied.work, nullptr, nullptr, request);
    twice.set(varied.q, varied.v, varied.a, varied.work.wholeRotors);
    twice.setRatios(varied.work.G);
    const ExternalForces<Nested, double> forces{external_.frames, m.wrenches, external_.count};
    const auto slope = [&](const double* dq, const double* dv) {
      twice.vary(dq, dv, nullptr);
      requireRegular(inverseDynamicsKernel(twice.tables, twice.work, twice.loops, twice.q, twice.v,
                                           twice.a, forces, m.tau));
      double sum = 0.0;
      for (int i = 0; i < n; ++i) {
        sum += lambda_[i] * m.tau[i].slope.slope;
      }
      return sum;
    };
    for (int j = 0; j < n; ++j) {
      double ofA = 0.0;
      for (int i = 0; i < n; ++i) {
        ofA += lambda_[i] * m.H[i * n + j].slope;
      }
      const double ofQ = slope(twice.unit(j), nullptr), ofV = slope(nullptr, twice.unit(j));
      write(j, ofQ, ofV, ofA);
    }
  }

  ExternalForces<double, double> external_;
  std::optional<VariedDerivatives> once_;
  std::optional<TwiceVaried> twice_;
  const double *q_ = nullptr, *lambda_ = nullptr;
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
    e.along(e.unit(k), nullptr, nullptr, [&](int j, double ofQ, double ofV, double ofA) {
      qq(j, k) = ofQ;
      qv(k, j) = ofV;  // derivatives with respect to q and v commute
      qa(k, j) = ofA;
    });
  }
  for (int k = 0; k < n; ++k) {
    e.along(nullptr, e.unit(k), nullptr,
            [&](int j, double /*ofQ*/, double ofV, double /*ofA*/) { vv(j, k) = ofV; });
  }
}

}  // namespace kempe
