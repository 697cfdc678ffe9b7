#include "support/dual_dynamics.hpp"

#include <stdexcept>

#include "constraints/constraint_rows.hpp"
#include "kempe/configuration.hpp"
#include "kernels/implicit_loops.hpp"
#include "kernels/inverse_dynamics.hpp"
#include "kernels/terms.hpp"
#include "model/model_impl.hpp"
#include "spatial/dual.hpp"

namespace kempe::test {
namespace {

using namespace detail;  // NOLINT(google-build-using-namespace): this file tests detail
using Number = Dual<double>;

/// The rate of q while the tree joints move at `rates`.
std::vector<Number> varying(const Model& model, const Eigen::VectorXd& q,
                            const Eigen::VectorXd& along, const Eigen::VectorXd& rates) {
  const ModelTables<double>& tables = model.impl().tables;
  std::vector<Number> result(static_cast<std::size_t>(q.size()));
  for (const ClusterEntry& cluster : tables.clusters) {
    if (cluster.kind == ClusterKind::Explicit) {
      for (int i = 0; i < cluster.nv; ++i) {
        result[static_cast<std::size_t>(cluster.firstQ + i)] = {q[cluster.firstQ + i],
                                                                along[cluster.firstV + i]};
      }
      continue;
    }
    for (int b = cluster.firstBody; b < cluster.firstBody + cluster.bodies; ++b) {
      const BodyEntry<double>& body = tables.bodies[static_cast<std::size_t>(b)];
      const int first = cluster.firstQ + body.firstPosition - cluster.firstPosition;
      const int size = positionSize(body.type);
      const double* v = rates.data() + body.firstVelocity;
      Eigen::VectorXd slopes = Eigen::VectorXd::Zero(size);
      if (hasScalarCoordinates(body.type)) {
        slopes = Eigen::Map<const Eigen::VectorXd>(v, size);
      } else {
        const int turn = size - 4;
        const double* w = v + (turn == 0 ? 0 : 3);
        const Quaternion<double> unit = normalized(Quaternion<double>{
            q[first + turn], q[first + turn + 1], q[first + turn + 2], q[first + turn + 3]});
        const Quaternion<double> rate = unit * Quaternion<double>{w[0] / 2, w[1] / 2, w[2] / 2, 0};
        slopes.tail(4) << rate.x, rate.y, rate.z, rate.w;
        if (turn > 0) {
          const Vec3<double> shift = rotationFromQuaternion(unit) * Vec3<double>{v[0], v[1], v[2]};
          slopes.head(3) << shift.x, shift.y, shift.z;
        }
      }
      for (int i = 0; i < size; ++i) {
        result[static_cast<std::size_t>(first + i)] = {q[first + i], slopes[i]};
      }
    }
  }
  return result;
}

std::vector<Number> varying(const Eigen::VectorXd& x, const Eigen::VectorXd& along) {
  std::vector<Number> result;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    result.emplace_back(x[i], along[i]);
  }
  return result;
}

std::size_t workSize(const TablesView<double>& tables, WorkView<Number>& work, std::byte* memory) {
  Carver carver(memory);
  for (const WorkStage stage : {WorkStage::Motion, WorkStage::Articulated, WorkStage::LoopForces}) {
    carveStage(tables, stage, carver, work);
  }
  return carver.used();
}

/// Scratch of the recursions in dual numbers.
struct DualWork {
  explicit DualWork(const TablesView<double>& tables) : memory(workSize(tables, view, nullptr)) {
    workSize(tables, view, memory.data());
    writeConstants(tables, view);
  }
  WorkView<Number> view{};
  AlignedMemory memory;
};

/// q, v and a of a state as they vary.
struct DualState {
  DualState(const Model& model, const VaryingState& state)
      : v(varying(state.v, state.alongV)), a(varying(state.a, state.alongA)) {
    Data data(model);
    Eigen::VectorXd positions(model.nqSpanning()), rates(model.nvSpanning());
    spanning(model, data, state.q, state.alongQ, positions, rates);
    q = varying(model, state.q, state.alongQ, rates);
  }
  std::vector<Number> q, v, a;
};

/// A matrix of dual numbers, column by column.
struct VaryingMatrix {
  VaryingMatrix(Eigen::Index rows, Eigen::Index columns)
      : rows_(rows), columns_(columns), numbers_(static_cast<std::size_t>(rows * columns)) {}

  [[nodiscard]] Number* data() { return numbers_.data(); }
  [[nodiscard]] MatrixAt<Number> at() { return {data(), 1, static_cast<int>(rows_)}; }
  [[nodiscard]] Eigen::MatrixXd slopes() const {
    Eigen::MatrixXd result(rows_, columns_);
    for (Eigen::Index i = 0; i < result.size(); ++i) {
      result.data()[i] = numbers_[static_cast<std::size_t>(i)].slope;
    }
    return result;
  }

 private:
  Eigen::Index rows_, columns_;
  std::vector<Number> numbers_;
};

}  // namespace

Eigen::VectorXd inverseDynamicsAlong(const Model& model, const VaryingState& state,
                                     std::span<const FrameForce> external) {
  const ModelImpl& impl = model.impl();
  const TablesView<double>& tables = viewOf<double>(impl);
  DualWork own(tables);
  WorkView<Number>& work = own.view;
  std::vector<BodyFrame<double>> frames;
  std::vector<Number> wrenches;
  for (const FrameForce& force : external) {
    const FrameEntry& frame = impl.frames[static_cast<std::size_t>(force.frame)];
    if (frame.body == kWorld) {
      continue;
    }
    work.wholeRotors |= tables.bodies[frame.body].folded;
    frames.push_back({frame.body, frame.inBody, force.reference});
    for (const double x : force.wrench) {
      wrenches.emplace_back(x, 0.0);
    }
  }
  const DualState at(model, state);
  std::vector<Number> tau(at.v.size());
  LoopScratch<double> scratch(tables);
  ImplicitLoops<Number> loops(tables, impl.mechanism.functions, scratch.forFunctions());
  const ExternalForces<Number, double> forces{frames.data(), wrenches.data(),
                                              static_cast<int>(frames.size())};
  if (inverseDynamicsKernel(tables, work, loops, at.q.data(), at.v.data(), at.a.data(), forces,
                            tau.data()) >= 0) {
    throw std::runtime_error("singular");
  }
  Eigen::VectorXd slopes(model.nv());
  for (int i = 0; i < model.nv(); ++i) {
    slopes[i] = tau[static_cast<std::size_t>(i)].slope;
  }
  return slopes;
}

RowSlopes rowsAlong(const Model& model, const ConstraintTable& table, double time,
                    const VaryingState& state) {
  const ModelImpl& impl = model.impl();
  const TablesView<double>& tables = viewOf<double>(impl);
  DualWork work(tables);
  work.view.wholeRotors = true;
  const DualState at(model, state);
  LoopScratch<double> scratch(tables);
  ImplicitLoops<Number> loops(tables, impl.mechanism.functions, scratch.forFunctions());
  if (placeMechanism(tables, work.view, loops, at.q.data()) >= 0) {
    throw std::runtime_error("singular");
  }
  for (int c = 0; c < tables.clusterCount; ++c) {
    moveBodies(tables, c, work.view, loops, at.v.data(), at.a.data());
  }
  RowSlopes slopes{Eigen::VectorXd::Zero(table.rows), Eigen::VectorXd::Zero(table.rows),
                   Eigen::VectorXd::Zero(table.rows)};
  CallMemory functions;
  std::vector<Number> registers(static_cast<std::size_t>(table.functionNumbers));
  const StoredMotion<Number> motion{work.view};
  for (const ConstraintEntry& entry : table.entries) {
    std::vector<ConstraintRow<Number>> rows(static_cast<std::size_t>(entry.rows));
    std::vector<Number> along(rows.size() * entry.terms.size());
    functions.makeRoomFor(entry.arguments(), entry.rows);
    if (entry.form.betweenBodies()) {
      bodyRows(entry, motion, rows.data());
    } else {
      coordinateRows(entry, motion, time, functions.view(), registers.data(), rows.data(),
                     along.data());
    }
    for (int r = 0; entry.enabled && r < entry.rows; ++r) {
      const ConstraintRow<Number>& row = rows[static_cast<std::size_t>(r)];
      slopes.value[entry.firstRow + r] = row.value.slope;
      slopes.rate[entry.firstRow + r] = row.rate.slope;
      slopes.second[entry.firstRow + r] = row.bias.slope;
    }
  }
  return slopes;
}

KinematicsAlong kinematicsAlong(const Model& model, const VaryingState& state,
                                std::span<const FrameIn> wanted) {
  const ModelImpl& impl = model.impl();
  const TablesView<double>& tables = viewOf<double>(impl);
  DualWork own(tables);
  WorkView<Number>& work = own.view;
  std::vector<BodyFrame<double>> frames;
  for (const FrameIn& given : wanted) {
    const FrameEntry& frame = impl.frames[static_cast<std::size_t>(given.frame)];
    work.wholeRotors |= frame.body != kWorld && tables.bodies[frame.body].folded;
    frames.push_back({frame.body, frame.inBody, given.reference});
  }
  const auto count = static_cast<Eigen::Index>(frames.size());
  VaryingMatrix velocities(6, count), accelerations(6, count), jacobians(6, count * model.nv()),
      momentum(6, 1), momentumRate(6, 1), center(3, 1), centerVelocity(3, 1),
      centerAcceleration(3, 1), gravity(model.nv(), 1);
  TermRequest<Number, double> request;
  request.frames = frames.data();
  request.frameCount = static_cast<int>(count);
  request.velocities = velocities.data();
  request.accelerations = accelerations.data();
  request.jacobians = jacobians.at();
  request.jacobianStride = 6 * model.nv();
  request.momentum = momentum.data();
  request.momentumRate = momentumRate.data();
  request.centerOfMass = center.data();
  request.centerVelocity = centerVelocity.data();
  request.centerAcceleration = centerAcceleration.data();
  request.gravity = gravity.data();
  const DualState at(model, state);
  LoopScratch<double> scratch(tables);
  ImplicitLoops<Number> loops(tables, impl.mechanism.functions, scratch.forFunctions());
  if (bringMotion(tables, work, loops, at.q.data(), at.v.data(), at.a.data(), MotionLevel::None,
                  MotionLevel::Accelerations) >= 0) {
    throw std::runtime_error("singular");
  }
  writeTerms(tables, work, at.v.data(), at.a.data(), request);
  KinematicsAlong result{velocities.slopes(),     accelerations.slopes(),      {},
                         momentum.slopes(),       momentumRate.slopes(),       center.slopes(),
                         centerVelocity.slopes(), centerAcceleration.slopes(), gravity.slopes()};
  const Eigen::MatrixXd all = jacobians.slopes();
  for (Eigen::Index f = 0; f < count; ++f) {
    result.jacobians.emplace_back(all.middleCols(f * model.nv(), model.nv()));
  }
  return result;
}

}  // namespace kempe::test
