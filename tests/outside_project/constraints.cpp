#include "check.hpp"

namespace {

template <typename T>
void checkConstrainedDynamicsOf(const kempe::Model& model, const kempe::Constraints& constraints) {
  using VectorOfT = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  kempe::BasicData<T> data(model);
  const VectorOfT q = model.neutral().cast<T>(), zero = VectorOfT::Zero(model.nv());
  VectorOfT a(model.nv()), multipliers(constraints.rows());
  kempe::ConstraintReport report;
  kempe::constrainedForwardDynamics(model, data, constraints, 0.0, q, zero, zero, a, multipliers,
                                    {}, &report);
  check(report.rows == constraints.rows() && std::abs(a[0]) < T(1e-5), "locked joints stay");

  using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  kempe::BasicBatch<T> batch(model, {.threads = 1});
  const Rows allQ = q.transpose().replicate(5, 1), none = Rows::Zero(5, model.nv());
  Rows allA(5, model.nv()), allMultipliers(5, constraints.rows());
  std::vector<kempe::ConstraintReport> reports(5);
  kempe::constrainedForwardDynamics(model, batch, constraints, 0.0, allQ, none, none, allA,
                                    allMultipliers, {}, reports);
  check(reports[4].rank == report.rank && std::abs(allA(4, 0)) < T(1e-5), "in all states");

  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const int nv = model.nv(), rows = constraints.rows();
  Matrix byQ(nv, nv), byV(nv, nv), byTau(nv, nv), ofQ(rows, nv), ofV(rows, nv), ofTau(rows, nv);
  kempe::constrainedForwardDynamicsDerivatives(model, data, constraints, 0.0, q, zero, zero, byQ,
                                               byV, byTau, ofQ, ofV, ofTau, {}, &report);
  check(report.rank == rows && byTau.row(0).cwiseAbs().maxCoeff() < T(1e-3) &&
            std::abs(ofTau(0, 0) + T(1)) < T(1e-3),
        "forces on locked joints go into their multipliers");
}

}  // namespace

void checkConstraints() {
  const kempe::Model model = kempe::robots::load("geared_chain", 4);
  const std::vector<std::string>& joints = model.vNames();
  const std::string end = model.bodyNames()[model.bodyNames().size() - 2];
  kempe::Constraints constraints(model);
  const int locked = constraints.lock("locked", joints[0], model.neutral());
  const int moved = constraints.prescribe("moved", joints[1], [](double t) {
    return kempe::PrescribedMotion{t, 1.0, 0.0};
  });
  check(constraints.count() == 2 && constraints.rows() == 2 && constraints.rows(moved) == 1 &&
            constraints.firstRow(moved) == 1 && constraints.name(locked) == "locked" &&
            constraints.find("moved") == moved && constraints.enabled(moved),
        "what there is");
  constraints.stabilize(10.0);
  check(constraints.stabilization() == 10.0, "stabilization");
  checkConstrainedDynamicsOf<double>(model, constraints);
  checkConstrainedDynamicsOf<float>(model, constraints);

  kempe::Constraints all(constraints), assigned(model), movedInto(std::move(constraints));
  assigned = all;
  movedInto = std::move(assigned);
  check(movedInto.count() == 2, "copies");
  kempe::LoopJoint hand{.name = "hand", .type = kempe::LoopType::Spherical};
  hand.from(model.frameNames().front()).to(end);
  const int held = all.add(hand);
  kempe::Rod rod{.name = "rod"};
  rod.from(model.frameNames().front(), {0, 0, 5}).to(end, {0, 0, 0}).ofLength(5.0);
  all.add(rod);
  kempe::Coupling coupling{.name = "coupling"};
  coupling.plus(1.0, joints[2]).minus(1.0, joints[3]);
  all.add(coupling);
  all.addFunction("function", {joints[2]}, 1,
                  [](const auto& q, const auto& t, auto& phi) { phi[0] = q[0] - t; });
  kempe::TimedFunction timed;
  timed.coordinates = {joints[2]};
  timed.symbolic = [](std::span<const kempe::Symbol> q, const kempe::Symbol& t,
                      std::span<kempe::Symbol> phi) { phi[0] = q[0] - t; };
  check(timed.traced().text() == "x0 - x1", "the formula of a function of time");
  all.add(kempe::KnifeEdge{.name = "edge", .body = end});
  all.add(kempe::Rolling{.name = "wheel", .body = end, .radius = 0.1});
  check(all.count() == 8, "all kinds");
  check(throws<std::invalid_argument>([&] { all.add(kempe::KnifeEdge{.body = "none"}); }),
        "a body that is not there");
  for (int i = held + 1; i < all.count(); ++i) {
    all.enable(i, false);
  }
  all.enable(moved, false);
  all.enable(locked, false);

  kempe::Data data(model);
  Eigen::VectorXd errors(all.rows()), impulses(all.rows());
  Eigen::VectorXd q = model.neutral(), v = Eigen::VectorXd::Ones(model.nv());
  Eigen::MatrixXd K(all.rows(), model.nv());
  kempe::constraintRows(model, data, all, 0.0, q, K);
  kempe::constraintVelocityErrors(model, data, all, 0.0, q, v, errors);
  check(((K * v - errors).segment(all.firstRow(held), 3)).norm() < 1e-9, "rows");
  Eigen::MatrixXd byQ(model.nv(), model.nv()), byV = byQ, ofQ = K, ofV = K;
  // The straight chain is singular.
  const Eigen::VectorXd bent = Eigen::VectorXd::LinSpaced(model.nq(), 0.3, 0.9);
  kempe::constraintRows(model, data, all, 0.0, bent, K);
  kempe::projectVelocitiesDerivatives(model, data, all, 0.0, bent, v, byQ, byV, ofQ, ofV);
  check((K * byV).middleRows(all.firstRow(held), 3).norm() < 1e-9 && byQ.allFinite() &&
            ofQ.allFinite() && ofV.allFinite(),
        "derivatives of velocities that keep it");
  kempe::projectVelocities(model, data, all, 0.0, q, v, v, impulses);
  kempe::constraintVelocityErrors(model, data, all, 0.0, q, v, errors);
  check(errors.segment(all.firstRow(held), 3).norm() < 1e-9, "velocities that keep it");
  kempe::constraintErrors(model, data, all, 0.0, q, errors);
  const auto wrench = kempe::constraintWrench(model, data, all, held, 0.0, q, impulses);
  check(std::isfinite(wrench[0]), "a wrench");

  kempe::projectPositions(model, data, movedInto, 0.2, q, q);
  errors.resize(movedInto.rows());
  kempe::constraintErrors(model, data, movedInto, 0.2, q, errors);
  check(errors.norm() < 1e-9, "positions that satisfy them");
}
