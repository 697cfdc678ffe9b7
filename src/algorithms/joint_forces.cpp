#include "kempe/joint_forces.hpp"

#include <algorithm>
#include <functional>

#include "algorithms/constraint_solver.hpp"
#include "kernels/uneven_rotors.hpp"
#include "model/positions.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

/// One evaluation of the dynamics and of the forces between bodies.
template <typename T>
class ForceEvaluation : public Evaluation<T> {
 public:
  ForceEvaluation(const Model& model, BasicData<T>& userData, const ForceOptions& how)
      : Evaluation<T>(model, userData), how_(how), scratch_(this->data.forceScratch) {
    scratch_.cutWrenches.clear();
    scratch_.cutTorques.clear();
  }

  /// Checks the state; `x` is τ or ÿ.
  void setState(VectorInOf<T> q, VectorInOf<T> v, const char* name, VectorInOf<T> x) {
    this->requireQ(q);
    this->requireInput("v", v);
    this->requireInput(name, x);
    request_.v = v.data();
    requireOptions();
  }
  void requireJoints(const char* name, MatrixOutOf<T>& joints) {
    this->requireMatrix(name, joints, 6, this->tables->bodyCount);
    request_.joints = joints.data();
    request_.stride = static_cast<int>(joints.outerStride());
  }
  void requireLoops(const char* name, VectorOutOf<T>& forces) {
    const int cut = this->impl.cuts.forces;
    requireSize(name, forces.size(), this->impl.tables.loopForces + cut, "model.nLoopForces");
    request_.loops = forces.data();
    cutForces_ = forces.data() + this->impl.tables.loopForces;
    std::fill_n(cutForces_, cut, T(0));  // a given motion leaves nothing to loops that are cut
  }

  /// ÿ of τ, and the forces. Inputs are read until the end; outputs that may alias them are written
  /// last.
  void forward(VectorInOf<T> q, VectorInOf<T> tau, T* a) {
    const T* total = tau.data();
    if (!this->impl.cuts.entries.empty()) {
      solveCuts(q, tau);
    }
    if (prepareSpanning(q)) {
      std::transform(tau.begin(), tau.end(), scratch_.generalized.begin(), scratch_.total.begin(),
                     std::plus<>());
      total = scratch_.total.data();
    }
    const ExternalForces<T, T> external = prepareForces();
    KernelContext<T> context = this->context();
    context.forcesFollow = true;
    this->require(this->kernels().forwardDynamics(context, q.data(), request_.v, total, external,
                                                  scratch_.result.data()),
                  q);
    request_.ydd = scratch_.result.data();
    request_.tau = tau.data();
    finish(q, context, false);
    std::ranges::copy(scratch_.result, a);
  }

  /// τ of ÿ, and the forces.
  void inverse(VectorInOf<T> q, VectorInOf<T> a, T* tau) {
    const bool hasSpanning = prepareSpanning(q);
    const ExternalForces<T, T> external = prepareForces();
    const KernelContext<T> context = this->context();
    this->require(this->kernels().inverseDynamics(context, q.data(), request_.v, a.data(), external,
                                                  scratch_.result.data()),
                  q);
    if (hasSpanning) {
      std::ranges::transform(scratch_.result, scratch_.generalized, scratch_.result.begin(),
                             std::minus<>());
    }
    request_.ydd = a.data();
    request_.tau = scratch_.result.data();
    finish(q, context, true);
    std::ranges::copy(scratch_.result, tau);
  }

 private:
  void requireOptions() {
    if (how_.frame && how_.reference) {
      throw std::invalid_argument(
          "reference and frame are both given: a frame has its own point and axes. Give one of "
          "the two");
    }
    if (how_.frame) {
      const FrameEntry& entry = this->frame(*how_.frame);
      frame_ = this->bodyFrame(entry, Reference::Local);
      request_.frame = &frame_;
    }
    request_.reference = how_.reference.value_or(Reference::LocalWorldAligned);
    request_.rotorsDrive = how_.actuation == Actuation::Rotors;
  }

  /// Gᵀ of the forces at all joints; false where there are none.
  bool prepareSpanning(VectorInOf<T> q) {
    if (how_.spanning.empty() && scratch_.cutTorques.empty()) {
      return false;
    }
    std::ranges::fill(scratch_.spanning, T(0));
    const auto add = [&](std::span<const double> forces) {
      for (std::size_t i = 0; i < forces.size(); ++i) {
        scratch_.spanning[i] += static_cast<T>(forces[i]);
      }
    };
    if (!how_.spanning.empty()) {
      const auto size = static_cast<Eigen::Index>(how_.spanning.size());
      requireVector("spanning", Eigen::Map<const Eigen::VectorXd>(how_.spanning.data(), size),
                    this->tables->velocities, "model.nvSpanning");
      add(how_.spanning);
    }
    add(scratch_.cutTorques);
    request_.spanning = scratch_.spanning.data();
    this->place(q);
    projectForces(*this->tables, *this->work, scratch_.spanning.data(),
                  scratch_.generalized.data());
    return true;
  }

  /// External forces; and rotors as bodies where their own axes are asked for.
  ExternalForces<T, T> prepareForces() {
    ExternalForces<T, T> external = this->prepareExternal(how_.external);
    for (const auto& [body, wrench] : scratch_.cutWrenches) {
      addCutWrench(body, wrench, external);
    }
    const bool onRotor = how_.frame && frame_.body != kWorld &&
                         (this->modelTables.bodies[frame_.body].folded ||
                          isBesideUneven(this->modelTables, frame_.body));
    this->work->wholeRotors |=
        onRotor || how_.reference == Reference::Local || pullsAtUneven(this->modelTables, external);
    return external;
  }

  /// A wrench in the common frame as an external force.
  void addCutWrench(int body, const Force<T>& wrench, ExternalForces<T, T>& external) {
    if (body == kWorld) {
      return;
    }
    std::vector<BodyFrame<T>>& frames = this->data.frames;
    std::vector<T>& wrenches = this->data.wrenches;
    // About the world's origin.
    const Vec3<T> moment = wrench.moment + cross(*this->work->origin, wrench.force);
    frames.push_back({body, {}, Reference::World});
    for (const Vec3<T>& part : {wrench.force, moment}) {
      wrenches.insert(wrenches.end(), {part.x, part.y, part.z});
    }
    this->work->wholeRotors |= this->modelTables.bodies[body].folded;
    external = {frames.data(), wrenches.data(), static_cast<int>(frames.size())};
  }

  void finish(VectorInOf<T> q, const KernelContext<T>& context, bool afterInverse) {
    request_.afterInverse = afterInverse;
    const int undriven = this->kernels().interBodyForces(context, request_);
    if (undriven >= 0) {
      const ClusterEntry& cluster = this->impl.tables.clusters[undriven];
      expandCluster(this->modelTables, this->modelTables.clusters[undriven], q.data(),
                    this->work->positions);
      const T* own = this->work->positions + cluster.firstPosition;
      const std::vector<double> at(own, own + cluster.positions);
      throwUndrivenError(this->impl, cluster, at.data());
    }
  }

  /// λ of loops that are left cut; from then on their forces on bodies and joints act like external
  /// forces.
  void solveCuts(VectorInOf<T> q, VectorInOf<T> tau) {
    const T* total = tau.data();
    if (prepareSpanning(q)) {
      std::transform(tau.begin(), tau.end(), scratch_.generalized.begin(), scratch_.total.begin(),
                     std::plus<>());
      total = scratch_.total.data();
    }
    const ExternalForces<T, T> external = this->prepareExternal(how_.external);
    ConstraintSolver<T> solver(*this);
    solver.add(this->impl.cuts);
    constrainedAccelerations(solver, 0.0, 0.0, q.data(), request_.v, total, external,
                             scratch_.result.data());
    scratch_.cutWrenches.clear();
    scratch_.cutTorques.assign(static_cast<std::size_t>(this->tables->velocities), 0.0);
    T* out = cutForces_;
    for (const ActiveConstraint& active : solver.active()) {
      const ConstraintEntry& entry = *active.entry;
      const T* lambda = solver.scratch.lambda.data() + active.firstRow;
      if (entry.form.betweenBodies()) {
        Force<T> wrench{};
        for (int r = 0; r < entry.rows; ++r) {
          wrench += lambda[r] * solver.scratch.rows[active.firstRow + r].wrench;
        }
        scratch_.cutWrenches.push_back({entry.successor.body, wrench});
        scratch_.cutWrenches.push_back({entry.predecessor.body, -wrench});
        if (out != nullptr) {
          writeWrench(entry, wrench, out);
          out += 6;
        }
        continue;
      }
      const auto terms = entry.terms.size();
      for (std::size_t t = 0; t < terms; ++t) {
        T force(0);
        for (int r = 0; r < entry.rows; ++r) {
          force += lambda[r] * solver.scratch.slopes[active.firstSlope + r * terms + t];
        }
        scratch_.cutTorques[static_cast<std::size_t>(entry.terms[t].velocity)] +=
            static_cast<double>(force);
        if (out != nullptr) {
          *out++ = force;
        }
      }
    }
  }

  /// The wrench of the predecessor on the successor, at the successor's frame or as requested.
  void writeWrench(const ConstraintEntry& entry, const Force<T>& wrench, T* out) const {
    const BodyFrame<T> own{entry.successor.body, entry.forceFrame.template cast<T>(),
                           request_.reference};
    const Transform<T> X =
        referenceFrame(request_.frame != nullptr ? *request_.frame : own, *this->work);
    const Vec3<T> force = transposeTimes(X.R, wrench.force);
    const Vec3<T> moment = transposeTimes(X.R, wrench.moment - cross(X.p, wrench.force));
    for (int i = 0; i < 3; ++i) {
      out[i] = force[i];
      out[i + 3] = moment[i];
    }
  }

  const ForceOptions& how_;
  ForceScratch<T>& scratch_;
  InterBodyRequest<T, T> request_;
  BodyFrame<T> frame_;
  T* cutForces_ = nullptr;
};

}  // namespace

template <typename T>
void jointForces(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                 VectorInOf<T> tau, MatrixOutOf<T> forces, const ForceOptions& how) {
  ForceEvaluation<T> e(model, data, how);
  e.setState(q, v, "tau", tau);
  e.requireJoints("forces", forces);
  e.forward(q, tau, e.data.vector.data());
}

template <typename T>
void loopForces(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                VectorInOf<T> tau, VectorOutOf<T> forces, const ForceOptions& how) {
  ForceEvaluation<T> e(model, data, how);
  e.setState(q, v, "tau", tau);
  e.requireLoops("forces", forces);
  e.forward(q, tau, e.data.vector.data());
}

namespace {

template <typename T>
void requireOutputs(ForceEvaluation<T>& e, MatrixOutOf<T>& joints, VectorOutOf<T>& loops) {
  if (joints.size() > 0) {
    e.requireJoints("joints", joints);
  }
  if (loops.size() > 0) {
    e.requireLoops("loops", loops);
  }
}

}  // namespace

template <typename T>
void forwardDynamicsAndForces(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                              VectorInOf<T> v, VectorInOf<T> tau, VectorOutOf<T> a,
                              MatrixOutOf<T> joints, VectorOutOf<T> loops,
                              const ForceOptions& how) {
  ForceEvaluation<T> e(model, data, how);
  e.setState(q, v, "tau", tau);
  e.requireOutput("a", a);
  requireOutputs<T>(e, joints, loops);
  e.forward(q, tau, a.data());
}

template <typename T>
void inverseDynamicsAndForces(const Model& model, BasicData<T>& data, VectorInOf<T> q,
                              VectorInOf<T> v, VectorInOf<T> a, VectorOutOf<T> tau,
                              MatrixOutOf<T> joints, VectorOutOf<T> loops,
                              const ForceOptions& how) {
  ForceEvaluation<T> e(model, data, how);
  e.setState(q, v, "a", a);
  e.requireOutput("tau", tau);
  requireOutputs<T>(e, joints, loops);
  e.inverse(q, a, tau.data());
}

#define KEMPE_INSTANTIATE(T)                                                                      \
  template void jointForces<T>(const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>,         \
                               VectorInOf<T>, MatrixOutOf<T>, const ForceOptions&);               \
  template void loopForces<T>(const Model&, BasicData<T>&, VectorInOf<T>, VectorInOf<T>,          \
                              VectorInOf<T>, VectorOutOf<T>, const ForceOptions&);                \
  template void forwardDynamicsAndForces<T>(const Model&, BasicData<T>&, VectorInOf<T>,           \
                                            VectorInOf<T>, VectorInOf<T>, VectorOutOf<T>,         \
                                            MatrixOutOf<T>, VectorOutOf<T>, const ForceOptions&); \
  template void inverseDynamicsAndForces<T>(const Model&, BasicData<T>&, VectorInOf<T>,           \
                                            VectorInOf<T>, VectorInOf<T>, VectorOutOf<T>,         \
                                            MatrixOutOf<T>, VectorOutOf<T>, const ForceOptions&);
KEMPE_INSTANTIATE(double)
KEMPE_INSTANTIATE(float)
#undef KEMPE_INSTANTIATE

}  // namespace kempe
