#pragma once

#include "batch/batch_derivatives.hpp"
#include "support/decompositions.hpp"

/// All functions of batch.hpp, beside what gives the same for one state.
namespace kempe::test {

/// Functions with one output.
template <typename T>
std::vector<BatchFunction<T>> batchFunctionsOfOneOutput() {
  using B = BasicBatch<T>;
  using D = BasicData<T>;
  using A = BatchArguments<T>;
  using S = BatchStates<T>;
  using Index = Eigen::Index;
  const auto nv = [](const Model& m, std::size_t) { return Index{m.nv()}; };
  const auto sixOfFrames = [](const Model&, std::size_t frames) {
    return static_cast<Index>(6 * frames);
  };
  return {
      {"inverseDynamics", "a", "tau", true, false, true, nv,
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         inverseDynamics(m, b, a.q, a.v, a.x, out, {a.frames, a.wrenches, a.reference});
       },
       [](const Model& m, D& d, const S& s, Index k) {
         Numbers<T> out(m.nv());
         inverseDynamics(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(),
                         s.x.row(k).transpose(), out, {.external = s.forces(k)});
         return out;
       }},
      {"forwardDynamics", "tau", "a", true, false, true, nv,
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         forwardDynamics(m, b, a.q, a.v, a.x, out, {a.frames, a.wrenches, a.reference});
       },
       [](const Model& m, D& d, const S& s, Index k) {
         Numbers<T> out(m.nv());
         forwardDynamics(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(),
                         s.x.row(k).transpose(), out, {.external = s.forces(k)});
         return out;
       }},
      {"massMatrix", "", "H", false, false, false,
       [](const Model& m, std::size_t) { return Index{m.nv()} * m.nv(); },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) { massMatrix(m, b, a.q, out); },
       [](const Model& m, D& d, const S& s, Index k) {
         Columns<T> out(m.nv(), m.nv());
         massMatrix(m, d, s.q.row(k).transpose(), out);
         return Numbers<T>(out.reshaped());
       }},
      {"inverseOperationalInertia", "", "Omega", false, true, false,
       [](const Model&, std::size_t frames) { return static_cast<Index>(36 * frames * frames); },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         inverseOperationalInertia(m, b, a.q, a.frames, out, a.reference);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         const auto size = static_cast<Index>(6 * s.frames.size());
         Columns<T> out(size, size);
         inverseOperationalInertia(m, d, s.q.row(k).transpose(), s.frames, out, s.reference);
         return Numbers<T>(out.reshaped());
       }},
      {"forwardKinematics", "", "placements", false, true, false,
       [](const Model&, std::size_t frames) { return static_cast<Index>(12 * frames); },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         forwardKinematics(m, b, a.q, a.frames, out);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         std::vector<Transform<T>> all(m.frameNames().size());
         forwardKinematics<T>(m, d, s.q.row(k).transpose(), all);
         Numbers<T> out(static_cast<Index>(12 * s.frames.size()));
         Index next = 0;
         for (const int frame : s.frames) {
           const Transform<T>& X = all[static_cast<std::size_t>(frame)];
           for (int i = 0; i < 9; ++i) {
             out[next++] = X.R(i / 3, i % 3);
           }
           for (int i = 0; i < 3; ++i) {
             out[next++] = X.p[i];
           }
         }
         return out;
       }},
      {"frameVelocity", "", "velocities", true, true, false, sixOfFrames,
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         frameVelocity(m, b, a.q, a.v, a.frames, out, a.reference);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         return ofFrames<T>(s, 6, [&](int frame, auto out) {
           frameVelocity(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(), frame, out,
                         s.reference);
         });
       }},
      {"frameAcceleration", "a", "accelerations", true, true, false, sixOfFrames,
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         frameAcceleration(m, b, a.q, a.v, a.x, a.frames, out, a.reference);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         return ofFrames<T>(s, 6, [&](int frame, auto out) {
           frameAcceleration(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(),
                             s.x.row(k).transpose(), frame, out, s.reference);
         });
       }},
      {"frameJacobianRate", "", "rates", true, true, false, sixOfFrames,
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         frameJacobianRate(m, b, a.q, a.v, a.frames, out, a.reference);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         return ofFrames<T>(s, 6, [&](int frame, auto out) {
           frameJacobianRate(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(), frame, out,
                             s.reference);
         });
       }},
      {"frameJacobian", "", "J", false, true, false,
       [](const Model& m, std::size_t frames) { return static_cast<Index>(6 * frames) * m.nv(); },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         frameJacobian(m, b, a.q, a.frames, out, a.reference);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         return ofFrames<T>(s, Index{6} * m.nv(), [&](int frame, auto out) {
           Columns<T> J(6, m.nv());
           frameJacobian(m, d, s.q.row(k).transpose(), frame, J, s.reference);
           out = rowMajor<T>(J);
         });
       }},
      {"frameJacobianTimeDerivative", "", "rate", true, true, false,
       [](const Model& m, std::size_t frames) { return static_cast<Index>(6 * frames) * m.nv(); },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         frameJacobianTimeDerivative(m, b, a.q, a.v, a.frames, out, a.reference);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         return ofFrames<T>(s, Index{6} * m.nv(), [&](int frame, auto out) {
           Columns<T> J(6, m.nv());
           frameJacobianTimeDerivative(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(), frame,
                                       J, s.reference);
           out = rowMajor<T>(J);
         });
       }},
      {"gravityForcesDerivatives", "", "dtau_dq", false, false, false,
       [](const Model& m, std::size_t) { return Index{m.nv()} * m.nv(); },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         gravityForcesDerivatives(m, b, a.q, out);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         Columns<T> out(m.nv(), m.nv());
         gravityForcesDerivatives(m, d, s.q.row(k).transpose(), out);
         return rowMajor<T>(out);
       }},
      {"biasForces", "", "h", true, false, false, nv,
       [](const Model& m, B& b, const A& a, StatesOut<T> out) { biasForces(m, b, a.q, a.v, out); },
       [](const Model& m, D& d, const S& s, Index k) {
         Numbers<T> out(m.nv());
         biasForces(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(), out);
         return out;
       }},
      {"gravityForces", "", "tau", false, false, false, nv,
       [](const Model& m, B& b, const A& a, StatesOut<T> out) { gravityForces(m, b, a.q, out); },
       [](const Model& m, D& d, const S& s, Index k) {
         Numbers<T> out(m.nv());
         gravityForces(m, d, s.q.row(k).transpose(), out);
         return out;
       }},
      {"centerOfMass", "", "centers", false, false, false,
       [](const Model&, std::size_t) { return Index{3}; },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) { centerOfMass(m, b, a.q, out); },
       [](const Model& m, D& d, const S& s, Index k) {
         const Vec3<T> center = centerOfMass<T>(m, d, s.q.row(k).transpose());
         return Numbers<T>(Eigen::Matrix<T, 3, 1>(center.x, center.y, center.z));
       }},
      {"centerOfMassJacobian", "", "J", false, false, false,
       [](const Model& m, std::size_t) { return Index{3} * m.nv(); },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         centerOfMassJacobian(m, b, a.q, out);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         Columns<T> J(3, m.nv());
         centerOfMassJacobian(m, d, s.q.row(k).transpose(), J);
         return rowMajor<T>(J);
       }},
      {"momentum", "", "h", true, false, false, [](const Model&, std::size_t) { return Index{6}; },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) { momentum(m, b, a.q, a.v, out); },
       [](const Model& m, D& d, const S& s, Index k) {
         Numbers<T> out(6);
         momentum(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(), out);
         return out;
       }},
      {"momentumRate", "a", "rate", true, false, false,
       [](const Model&, std::size_t) { return Index{6}; },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         momentumRate(m, b, a.q, a.v, a.x, out);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         Numbers<T> out(6);
         momentumRate(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(), s.x.row(k).transpose(),
                      out);
         return out;
       }},
      {"centerOfMassVelocity", "", "velocities", true, false, false,
       [](const Model&, std::size_t) { return Index{3}; },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         centerOfMassVelocity(m, b, a.q, a.v, out);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         const Vec3<T> x =
             centerOfMassVelocity<T>(m, d, s.q.row(k).transpose(), s.v.row(k).transpose());
         return Numbers<T>(Eigen::Matrix<T, 3, 1>(x.x, x.y, x.z));
       }},
      {"centerOfMassAcceleration", "a", "accelerations", true, false, false,
       [](const Model&, std::size_t) { return Index{3}; },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         centerOfMassAcceleration(m, b, a.q, a.v, a.x, out);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         const Vec3<T> x = centerOfMassAcceleration<T>(
             m, d, s.q.row(k).transpose(), s.v.row(k).transpose(), s.x.row(k).transpose());
         return Numbers<T>(Eigen::Matrix<T, 3, 1>(x.x, x.y, x.z));
       }},
      {"centroidalMomentumMatrix", "", "A", false, false, false,
       [](const Model& m, std::size_t) { return Index{6} * m.nv(); },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         centroidalMomentumMatrix(m, b, a.q, out);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         Columns<T> out(6, m.nv());
         centroidalMomentumMatrix(m, d, s.q.row(k).transpose(), out);
         return rowMajor<T>(out);
       }},
      {"energy", "", "energies", true, false, false,
       [](const Model&, std::size_t) { return Index{2}; },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) { energy(m, b, a.q, a.v, out); },
       [](const Model& m, D& d, const S& s, Index k) {
         const Energy e = energy<T>(m, d, s.q.row(k).transpose(), s.v.row(k).transpose());
         return Numbers<T>(Eigen::Vector2d(e.kinetic, e.potential).template cast<T>());
       }},
      {"coriolisMatrix", "", "C", true, false, false,
       [](const Model& m, std::size_t) { return Index{m.nv()} * m.nv(); },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         coriolisMatrix(m, b, a.q, a.v, out);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         Columns<T> out(m.nv(), m.nv());
         coriolisMatrix(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(), out);
         return rowMajor<T>(out);
       }},
      {"jointForces", "tau", "joints", true, false, true,
       [](const Model& m, std::size_t) { return static_cast<Index>(6 * m.jointNames().size()); },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         forwardDynamicsAndForces(
             m, b, a.q, a.v, a.x, {}, out, {},
             {.external = {a.frames, a.wrenches, a.reference}, .reference = a.reference});
       },
       [](const Model& m, D& d, const S& s, Index k) {
         Columns<T> out(6, static_cast<Index>(m.jointNames().size()));
         jointForces(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(), s.x.row(k).transpose(),
                     out, {.external = s.forces(k), .reference = s.reference});
         return Numbers<T>(out.reshaped());
       }},
      {"loopForces", "a", "loops", true, false, true,
       [](const Model& m, std::size_t) { return Index{m.nLoopForces()}; },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         inverseDynamicsAndForces(m, b, a.q, a.v, a.x, {}, {}, out,
                                  {.external = {a.frames, a.wrenches, a.reference}, .frame = 0});
       },
       [](const Model& m, D& d, const S& s, Index k) {
         Numbers<T> tau(m.nv()), out(m.nLoopForces());
         Columns<T> none;
         inverseDynamicsAndForces(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(),
                                  s.x.row(k).transpose(), tau, none, out,
                                  {.external = s.forces(k), .frame = 0});
         return out;
       }},
      {"integrate", "", "result", true, false, false,
       [](const Model& m, std::size_t) { return Index{m.nq()}; },
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         integrate(m, b, a.q, a.v, a.dt, out);
       },
       [](const Model& m, D&, const S& s, Index k) {
         Data data(m);
         Eigen::VectorXd out(m.nq());
         integrate(m, data, s.q.row(k).transpose().template cast<double>(),
                   s.v.row(k).transpose().template cast<double>(), static_cast<double>(s.dt), out);
         return Numbers<T>(out.cast<T>());
       }},
  };
}

template <typename T>
std::vector<BatchFunction<T>> batchFunctions() {
  std::vector<BatchFunction<T>> all = batchFunctionsOfOneOutput<T>();
  const std::vector<BatchFunction<T>> more = batchDerivatives<T>();
  all.insert(all.end() - 1, more.begin(), more.end());  // tests know the place of some others
  return all;
}

/// Largest over smallest eigenvalue of the mass matrix: how much forward dynamics can magnify
/// rounding.
inline double conditionOf(const Model& model, Data& data, const Eigen::VectorXd& q) {
  if (model.nv() == 0) {
    return 1.0;
  }
  Eigen::MatrixXd H(model.nv(), model.nv());
  massMatrix(model, data, q, H);
  const Eigen::VectorXd values = eigenvalues(H);
  return values.maxCoeff() / values.minCoeff();
}

}  // namespace kempe::test
