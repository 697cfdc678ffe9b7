#include "algorithms/varied_dynamics.hpp"

#include <algorithm>

#include "algorithms/varied_mechanism.hpp"
#include "kernels/inverse_dynamics.hpp"
#include "kernels/terms.hpp"

namespace kempe::detail {
namespace {

using Number = VariedState::Number;

/// G at the state, or SingularityError.
template <typename T>
void findRatios(const Evaluation<T>& e, VectorInOf<T> q, VariedState& state) {
  e.require({state.findRatios(), -1}, q);
}

template <typename T>
BodyFrame<double> inDouble(const BodyFrame<T>& frame) {
  return {frame.body, frame.inBody.template cast<double>(), frame.reference};
}

/// Memory of the derivatives of inverse dynamics.
struct InverseDynamicsWork {
  InverseDynamicsWork(const ModelImpl& model, const FunctionScratch& functions, int forces,
                      Carver& carver)
      : state(model, functions, WorkStage::Motion, carver),
        tau(carver.take<Number>(state.tables.nv)),
        wrenches(carver.take<Number>(6 * forces)),
        frames(carver.take<BodyFrame<double>>(forces)) {}

  VariedState state;
  Number *tau, *wrenches;
  BodyFrame<double>* frames;
};

}  // namespace

template <typename T>
void variedInverseDynamics(Evaluation<T>& e, VectorInOf<T> q, const T* v, const T* a,
                           const ExternalForces<T, T>& external, MatrixOutOf<T>* byQ,
                           MatrixOutOf<T>* byV) {
  const auto m = carvedFrom<InverseDynamicsWork>(e.data.secondDerivatives, e.impl,
                                                 e.data.loops.forFunctions(), external.count);
  VariedState state = m.state;
  state.set(q.data(), v, a, e.work->wholeRotors);
  for (int i = 0; i < external.count; ++i) {
    m.frames[i] = inDouble(external.frames[i]);
  }
  for (int i = 0; i < 6 * external.count; ++i) {
    m.wrenches[i] = Number(static_cast<double>(external.wrenches[i]));
  }
  const ExternalForces<Number, double> forces{m.frames, m.wrenches, external.count};
  const auto writeColumn = [&](MatrixOutOf<T>& result, int column) {
    const int singular = inverseDynamicsKernel(state.tables, state.work, state.loops, state.q,
                                               state.v, state.a, forces, m.tau);
    e.require({singular, -1}, q);
    for (int i = 0; i < state.tables.nv; ++i) {
      result(i, column) = static_cast<T>(m.tau[i].slope);
    }
  };
  findRatios(e, q, state);
  for (int k = 0; k < state.tables.nv; ++k) {
    state.vary(state.unit(k), nullptr, nullptr);
    writeColumn(*byQ, k);
  }
  for (int k = 0; byV != nullptr && k < state.tables.nv; ++k) {
    state.vary(nullptr, state.unit(k), nullptr);
    writeColumn(*byV, k);
  }
}

namespace {

/// Quantities of each frame, or of the whole mechanism, and where their derivatives go.
template <typename T>
struct VariedTerm {
  Number* numbers;  ///< null: not asked for
  int size, count;
  MatrixAt<T> byQ, byV;
};

/// Memory of the derivatives of kinematics and momentum.
template <typename T>
struct MotionWork {
  MotionWork(const ModelImpl& model, const FunctionScratch& functions,
             const MotionDerivativeRequest<T, T>& request, Carver& carver)
      : state(model, functions, WorkStage::Motion, carver),
        frames(carver.take<BodyFrame<double>>(request.frameCount)) {
    const int nv = state.tables.nv, count = request.frameCount;
    const auto term = [&](int size, int of, const MatrixAt<T>& byQ, const MatrixAt<T>& byV) {
      return VariedTerm<T>{byQ || byV ? carver.take<Number>(size * of) : nullptr, size, of, byQ,
                           byV};
    };
    velocities = term(6, count, request.velocityByQ, {});
    accelerations = term(6, count, request.accelerationByQ, request.accelerationByV);
    momentum = term(6, 1, request.momentumByQ, {});
    momentumRate = term(6, 1, request.momentumRateByQ, request.momentumRateByV);
    centerVelocity = term(3, 1, request.centerVelocityByQ, {});
    centerAcceleration = term(3, 1, request.centerAccelerationByQ, request.centerAccelerationByV);
    jacobians = request.jacobianRate ? carver.take<Number>(6 * nv * count) : nullptr;
  }

  VariedState state;
  BodyFrame<double>* frames;
  VariedTerm<T> velocities, accelerations, momentum, momentumRate, centerVelocity,
      centerAcceleration;
  Number* jacobians;
};

}  // namespace

template <typename T>
void variedMotion(Evaluation<T>& e, VectorInOf<T> q, const T* v, const T* a,
                  const MotionDerivativeRequest<T, T>& request) {
  const auto m = carvedFrom<MotionWork<T>>(e.data.secondDerivatives, e.impl,
                                           e.data.loops.forFunctions(), request);
  VariedState state = m.state;
  const int nv = state.tables.nv;
  state.set(q.data(), v, a, e.work->wholeRotors);
  for (int f = 0; f < request.frameCount; ++f) {
    m.frames[f] = inDouble(request.frames[f]);
  }
  TermRequest<Number, double> terms;
  terms.frames = m.frames;
  terms.frameCount = request.frameCount;
  const auto evaluate = [&](MotionLevel known) {
    const MotionLevel wanted = terms.level(a != nullptr);
    const Number* const ydd = wanted == MotionLevel::Accelerations ? state.a : nullptr;
    e.require(
        {bringMotion(state.tables, state.work, state.loops, state.q, state.v, ydd, known, wanted),
         -1},
        q);
    writeTerms(state.tables, state.work, state.v, ydd, terms);
  };
  const auto writeSlopes = [&](MatrixAt<T> to, int f, const Number* from, int size, int column) {
    to.numbers += f * request.frameStride;
    for (int i = 0; i < size; ++i) {
      to(i, column) = static_cast<T>(from[i].slope);
    }
  };
  findRatios(e, q, state);
  if (m.jacobians != nullptr) {  // J̇ is the derivative of J along v
    terms.jacobians = {m.jacobians, 1, 6};
    terms.jacobianStride = 6 * nv;
    state.vary(state.valueV, nullptr, nullptr);
    evaluate(MotionLevel::None);
    for (int k = 0; k < nv * request.frameCount; ++k) {
      writeSlopes(request.jacobianRate, k / nv, m.jacobians + 6 * k, 6, k % nv);
    }
    terms.jacobians = {};
  }
  terms.velocities = m.velocities.numbers;
  terms.accelerations = m.accelerations.numbers;
  terms.momentum = m.momentum.numbers;
  terms.momentumRate = m.momentumRate.numbers;
  terms.centerVelocity = m.centerVelocity.numbers;
  terms.centerAcceleration = m.centerAcceleration.numbers;
  const VariedTerm<T> all[] = {m.velocities,   m.accelerations,  m.momentum,
                               m.momentumRate, m.centerVelocity, m.centerAcceleration};
  const auto writeColumn = [&](MatrixAt<T> VariedTerm<T>::*by, int column) {
    for (const VariedTerm<T>& term : all) {
      for (int f = 0; term.*by && f < term.count; ++f) {
        writeSlopes(term.*by, f, term.numbers + f * term.size, term.size, column);
      }
    }
  };
  const auto isWanted = [&](MatrixAt<T> VariedTerm<T>::*by) {
    return std::ranges::any_of(all, [&](const VariedTerm<T>& term) { return bool(term.*by); });
  };
  for (int k = 0; isWanted(&VariedTerm<T>::byQ) && k < nv; ++k) {
    state.vary(state.unit(k), nullptr, nullptr);
    evaluate(MotionLevel::None);
    writeColumn(&VariedTerm<T>::byQ, k);
  }
  if (isWanted(&VariedTerm<T>::byV)) {
    findRatios(e, q, state);  // placed where it does not vary
    for (int k = 0; k < nv; ++k) {
      state.vary(nullptr, state.unit(k), nullptr);
      evaluate(MotionLevel::Placements);
      writeColumn(&VariedTerm<T>::byV, k);
    }
  }
}

namespace {

/// Memory of the Coriolis matrix.
struct CoriolisMemory {
  CoriolisMemory(const ModelImpl& model, const FunctionScratch& functions, Carver& carver)
      : state(model, functions, WorkStage::Articulated, carver) {
    const int nv = state.tables.nv;
    H = carver.take<Number>(nv * nv);
    for (double** part : {&inertia, &slopes}) {
      *part = carver.take<double>(nv * nv);
    }
    for (double** part : {&momentum, &direction, &commutator}) {
      *part = carver.take<double>(nv);
    }
  }

  VariedState state;
  Number* H;
  double *inertia, *slopes;                   ///< nv², column by column
  double *momentum, *direction, *commutator;  ///< nv
};

/// Three or six velocities of a joint that turns, [linear; angular], as a motion in its own axes.
Motion<double> motionOfJoint(int size, const double* x) {
  const double* w = x + size - 3;
  return {{w[0], w[1], w[2]}, size == 3 ? Vec3<double>{} : Vec3<double>{x[0], x[1], x[2]}};
}

/// [Σ x_i e_i, Σ y_i e_i], the commutator of two directions of the tangent, in these directions, after
/// findRatios(). With the velocities w = G x of a joint that turns, dw = −[w, w] (Maurer and Cartan), so
/// that its independent velocities are those of [G x, G y]; all others are rates of coordinates and
/// commute.
void commute(const VariedState& state, const double* x, const double* y, double* result) {
  const TablesView<double>& tables = state.tables;
  std::fill_n(result, tables.nv, 0.0);
  for (int b = 0; b < tables.bodyCount; ++b) {
    const BodyEntry<double>& body = tables.bodies[b];
    const int size = velocitySize(body.type);
    if (positionSize(body.type) == size) {
      continue;
    }
    const ClusterEntry& cluster = tables.clusters[body.cluster];
    const int first = body.firstVelocity - cluster.firstVelocity;
    const auto velocity = [&](const double* along) {
      double own[6]{};
      for (int i = 0; i < size; ++i) {
        for (int j = 0; j < cluster.nv; ++j) {
          own[i] += state.ratio(cluster, first + i, j) * along[cluster.firstV + j];
        }
      }
      return motionOfJoint(size, own);
    };
    const Motion<double> turned = cross(velocity(x), velocity(y));
    for (int j = 0; j < cluster.nv; ++j) {
      const int i = tables.independent[cluster.firstIndependent + j] - first;
      if (i >= 0 && i < size) {
        result[cluster.firstV + j] =
            i < size - 3 ? turned.linear[i] : turned.angular[i - (size - 3)];
      }
    }
  }
}

}  // namespace

/// The connection of Levi-Civita of the metric H in the directions e_j (formula of Koszul), which for
/// rigid bodies is the matrix of kempe/coriolis.hpp, but for a skew-symmetric part that vanishes along v
/// where joints with quaternions have armatures. With p = H v and e_j constant,
///
///   2 C_kj = Ḣ_kj + E_kj − E_jk − p · [e_j, e_k],   E_kj = ∂p_k/∂y_j + (H [v, e_j])_k
template <typename T>
void variedCoriolis(Evaluation<T>& e, VectorInOf<T> q, const T* v, const MatrixAt<T>& C) {
  const auto m =
      carvedFrom<CoriolisMemory>(e.data.secondDerivatives, e.impl, e.data.loops.forFunctions());
  VariedState state = m.state;
  const int nv = state.tables.nv;
  using Matrix = Eigen::Map<Eigen::MatrixXd>;
  using Vector = Eigen::Map<Eigen::VectorXd>;
  Matrix inertia(m.inertia, nv, nv), E(m.slopes, nv, nv);
  Vector momentum(m.momentum, nv), commutator(m.commutator, nv);
  const Vector rates(state.valueV, nv);
  TermRequest<Number, double> request;
  request.H = m.H;
  request.stride = nv;
  const auto computeInertia = [&] {
    writeTerms<Number, double>(state.tables, state.work, nullptr, nullptr, request);
  };
  const auto computeAlong = [&](const double* direction) {
    state.vary(direction, nullptr, nullptr);
    e.require({state.place(), -1}, q);
    computeInertia();
  };
  state.set<T>(q.data(), v, nullptr, false);
  findRatios(e, q, state);
  computeInertia();
  for (int i = 0; i < nv * nv; ++i) {
    m.inertia[i] = m.H[i].value;
  }
  momentum.noalias() = inertia * rates;
  for (int j = 0; j < nv; ++j) {
    computeAlong(state.unit(j));
    commute(state, state.valueV, state.unit(j), m.commutator);
    E.col(j).noalias() = inertia * commutator;
    for (int k = 0; k < nv; ++k) {
      for (int i = 0; i < nv; ++i) {
        E(k, j) += m.H[k * nv + i].slope * rates[i];
      }
    }
  }
  computeAlong(state.valueV);
  for (int j = 0; j < nv; ++j) {
    std::fill_n(m.direction, nv, 0.0);
    m.direction[j] = 1.0;
    for (int k = 0; k < nv; ++k) {
      commute(state, m.direction, state.unit(k), m.commutator);
      const double twice = m.H[j * nv + k].slope + E(k, j) - E(j, k) - momentum.dot(commutator);
      C(k, j) = static_cast<T>(0.5 * twice);
    }
  }
}

void variedJacobianRate(Evaluation<double>& e, VectorIn q, const double* v, MatrixOut& rate) {
  auto state = carvedFrom<VariedState>(e.data.secondDerivatives, e.impl,
                                       e.data.loops.forFunctions(), WorkStage::Motion);
  state.set<double>(q.data(), v, nullptr, false);
  findRatios<double>(e, q, state);
  state.vary(state.valueV, nullptr, nullptr);
  e.require({state.place(), -1}, q);
  rate.setZero();
  for (const ClusterEntry& cluster : e.impl.tables.clusters) {
    for (int i = 0; cluster.kind == ClusterKind::Implicit && i < cluster.velocities; ++i) {
      for (int j = 0; j < cluster.nv; ++j) {
        rate(cluster.firstVelocity + i, cluster.firstV + j) =
            state.work.G[cluster.firstRatio + i * cluster.nv + j].slope;
      }
    }
  }
}

#define KEMPE_INSTANTIATE(T)                                                                \
  template void variedInverseDynamics<T>(Evaluation<T>&, VectorInOf<T>, const T*, const T*, \
                                         const ExternalForces<T, T>&, MatrixOutOf<T>*,      \
                                         MatrixOutOf<T>*);                                  \
  template void variedMotion<T>(Evaluation<T>&, VectorInOf<T>, const T*, const T*,          \
                                const MotionDerivativeRequest<T, T>&);                      \
  template void variedCoriolis<T>(Evaluation<T>&, VectorInOf<T>, const T*, const MatrixAt<T>&);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe::detail
