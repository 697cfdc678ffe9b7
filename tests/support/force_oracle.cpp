#include "support/force_oracle.hpp"
#include "support/decompositions.hpp"

#include <algorithm>

namespace kempe::test {
namespace {

Eigen::Vector3d vectorOf(const Vector3& x) {
  return {x.x, x.y, x.z};
}

Eigen::Matrix3d matrixOf(const SymMat3<double>& I) {
  Eigen::Matrix3d m;
  m << I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz;
  return m;
}

Eigen::Matrix3d matrixOf(const Rotation& R) {
  Eigen::Matrix3d m;
  m << R.r0.x, R.r0.y, R.r0.z, R.r1.x, R.r1.y, R.r1.z, R.r2.x, R.r2.y, R.r2.z;
  return m;
}

/// Columns: an orthonormal basis of the plane across an axis.
Eigen::MatrixXd across(const Eigen::Vector3d& axis) {
  Eigen::MatrixXd basis(3, 2);
  const Eigen::Vector3d first = axis.unitOrthogonal();
  basis << first, axis.normalized().cross(first);
  return basis;
}

/// The wrenches that a loop joint, with axes in the world, can transmit at its origin.
Eigen::MatrixXd bearableBy(LoopType type, const Eigen::Vector3d& axis,
                           const Eigen::Vector3d& axis2) {
  const Eigen::MatrixXd all = Eigen::Matrix3d::Identity();
  const Eigen::MatrixXd along = axis.normalized(), normal = across(axis), none(3, 0);
  Eigen::MatrixXd force = all, moment = normal;
  switch (type) {
    case LoopType::Revolute:
      break;
    case LoopType::Prismatic:
      force = normal;
      moment = all;
      break;
    case LoopType::Cylindrical:
      force = normal;
      break;
    case LoopType::Universal:
      moment = axis.cross(axis2).normalized();
      break;
    case LoopType::Spherical:
      moment = none;
      break;
    case LoopType::Planar:
      force = along;
      break;
    case LoopType::Fixed:
      moment = all;
      break;
  }
  Eigen::MatrixXd basis = Eigen::MatrixXd::Zero(6, force.cols() + moment.cols());
  basis.topLeftCorner(3, force.cols()) = force;
  basis.bottomRightCorner(3, moment.cols()) = moment;
  return basis;
}

template <typename Things>
const auto& named(const Things& things, const std::string& name) {
  return *std::ranges::find_if(things, [&](const auto& thing) { return thing.name == name; });
}

}  // namespace

ForceOracle::ForceOracle(const Model& model)
    : projected(model), model_(model), mechanism_(model_.mechanism()) {}

ForceOracle::Wrench ForceOracle::shifted(const Wrench& w, const Eigen::Vector3d& from,
                                         const Eigen::Vector3d& to) {
  Wrench result = w;
  result.tail<3>() += (from - to).cross(w.head<3>());
  return result;
}

Oracle::Motion ForceOracle::at(const std::string& body, const Eigen::Vector3d& point) const {
  return projected.oracle.motion(body, point, projected.positions, projected.rates);
}

std::string ForceOracle::carrierOf(const std::string& body) const {
  const Joint* joint = mechanism_.jointAbove(body);
  while (joint != nullptr && joint->type == JointType::Fixed) {
    joint = mechanism_.jointAbove(joint->parent);
  }
  return joint == nullptr ? std::string() : joint->name;
}

Eigen::MatrixXd ForceOracle::directions(const std::string& joint) const {
  const Joint& description = *mechanism_.findJoint(joint);
  const Oracle::Motion m = at(description.child);
  const int first = model_.jointVelocityIndex(joint), count = velocitySize(description.type);
  Eigen::MatrixXd s(6, count);
  s << m.linear.middleCols(first, count), m.angular.middleCols(first, count);
  return s;
}

void ForceOracle::set(const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Load& load) {
  projected.set(q, v);
  const int n = model_.nvSpanning();
  external_.clear();
  Eigen::VectorXd pushed = Eigen::VectorXd::Zero(n);
  for (const FrameForce& force : load.external) {
    const std::string& body = model_.frameNames()[static_cast<std::size_t>(force.frame)];
    const Oracle::Motion m = at(body);
    Wrench w(force.wrench.data());
    if (force.reference == Reference::Local) {
      w << m.R * w.head<3>().eval(), m.R * w.tail<3>().eval();
    } else if (force.reference == Reference::World) {
      w = shifted(w, Eigen::Vector3d::Zero(), m.p);
    }
    pushed += m.linear.transpose() * w.head<3>() + m.angular.transpose() * w.tail<3>();
    external_.try_emplace(carrierOf(body), Wrench::Zero()).first->second +=
        shifted(w, m.p, Eigen::Vector3d::Zero());
  }
  applied = Eigen::VectorXd::Zero(n);
  if (load.spanning.size() > 0) {
    applied += load.spanning;
  }
  const Eigen::MatrixXd& G = projected.G;
  a = solveDefinite(projected.massMatrix(),
                    load.tau + G.transpose() * (applied + pushed) - projected.biasForces());
  accelerations = G * a + projected.g;
  for (int i = 0; i < model_.nv(); ++i) {
    const auto& names = model_.spanningVelocityNames();
    const auto independent =
        std::ranges::find(names, model_.vNames()[static_cast<std::size_t>(i)]) - names.begin();
    applied[independent] += load.tau[i];
  }
  if (load.atRotors) {
    applyAtRotors(load.tau);
  }
  left = projected.H * accelerations + projected.h + projected.resistance + projected.springs -
         applied - pushed;
  solveLoops();
}

void ForceOracle::applyAtRotors(const Eigen::VectorXd& tau) {
  const auto indexIn = [](const std::vector<std::string>& names, const std::string& name) {
    return static_cast<int>(std::ranges::find(names, name) - names.begin());
  };
  for (const ClusterInfo& cluster : model_.clusters()) {
    if (cluster.rotorJoints.empty()) {
      continue;
    }
    std::vector<int> own, rotors;
    for (const std::string& name : cluster.independent) {
      own.push_back(indexIn(model_.vNames(), name));
      applied[indexIn(model_.spanningVelocityNames(), name)] -= tau[own.back()];
    }
    for (const std::string& name : cluster.rotorJoints) {
      rotors.push_back(model_.jointVelocityIndex(name));
    }
    const Eigen::MatrixXd ratios = projected.G(rotors, own);
    const Eigen::VectorXd atRotors = solveRegular(ratios.transpose(), tau(own));
    for (std::size_t i = 0; i < rotors.size(); ++i) {
      applied[rotors[i]] += atRotors[static_cast<Eigen::Index>(i)];
    }
  }
}

void ForceOracle::solveLoops() {
  const Eigen::MatrixXd K = projected.oracle.constraintRows(projected.positions);
  const int n = model_.nvSpanning();
  // The oracle's rows come kind by kind.
  std::map<std::string, int> firstRow;
  int row = 0;
  const auto count = [&](const std::string& name, int rows) {
    firstRow[name] = row;
    row += rows;
  };
  for (const Coupling& coupling : mechanism_.couplings) {
    count(coupling.name, 1);
  }
  for (const LoopJoint& loop : mechanism_.loops) {
    count(loop.name, static_cast<int>(bearableBy(loop.type, {0, 0, 1}, {0, 1, 0}).cols()));
  }
  for (const Rod& rod : mechanism_.rods) {
    count(rod.name, 1);
  }
  for (const Function& function : mechanism_.functions) {
    count(function.name, function.rows);
  }

  felt = Eigen::MatrixXd::Zero(n, model_.nLoopForces());
  bearable = Eigen::MatrixXd::Zero(model_.nLoopForces(), 0);
  for (const LoopInfo& loop : model_.loops()) {
    Eigen::MatrixXd basis;
    if (loop.kind == LoopKind::Joint || loop.kind == LoopKind::Rod) {
      Eigen::Vector3d pointB, pointA;
      std::string bodyA, bodyB;
      if (loop.kind == LoopKind::Rod) {
        const Rod& rod = named(mechanism_.rods, loop.name);
        bodyA = rod.predecessor.body;
        bodyB = rod.successor.body;
        pointB = vectorOf(rod.successor.point);
        basis = Eigen::MatrixXd::Zero(6, 1);
        basis.topRows(3) =
            (at(bodyB, pointB).p - at(bodyA, vectorOf(rod.predecessor.point)).p).normalized();
      } else {
        const LoopJoint& joint = named(mechanism_.loops, loop.name);
        bodyA = joint.predecessor.body;
        bodyB = joint.successor.body;
        pointB = vectorOf(joint.successor.frame.p);
        basis = bearableBy(joint.type,
                           at(bodyA).R * matrixOf(joint.predecessor.frame.R) * vectorOf(joint.axis),
                           at(bodyB).R * matrixOf(joint.successor.frame.R) * vectorOf(joint.axis2));
      }
      const Oracle::Motion B = at(bodyB, pointB), frameA = at(bodyA);
      const Oracle::Motion A = at(bodyA, frameA.R.transpose() * (B.p - frameA.p));
      felt.middleCols(loop.firstForce, 3) = (B.linear - A.linear).transpose();
      felt.middleCols(loop.firstForce + 3, 3) = (B.angular - A.angular).transpose();
    } else {
      std::vector<int> columns;
      for (std::size_t i = 0; i < loop.coordinates.size(); ++i) {
        const auto& names = model_.spanningVelocityNames();
        columns.push_back(
            static_cast<int>(std::ranges::find(names, loop.coordinates[i]) - names.begin()));
        felt(columns.back(), loop.firstForce + static_cast<int>(i)) = 1.0;
      }
      const Eigen::MatrixXd rows =
          K.middleRows(firstRow.at(loop.name), loop.rows)(Eigen::all, columns);
      const auto [values, V] = rightSingularVectors(rows);
      basis = V.leftCols((values.array() > 1e-9 * values.maxCoeff()).count());
    }
    const Eigen::Index before = bearable.cols();
    bearable.conservativeResize(Eigen::NoChange, before + basis.cols());
    bearable.rightCols(basis.cols()).setZero();
    bearable.block(loop.firstForce, before, loop.forces, basis.cols()) = basis;
  }
  loopForces = Eigen::VectorXd::Zero(model_.nLoopForces());
  if (bearable.cols() > 0) {
    loopForces = bearable * leastNorm(felt * bearable, left, 1e-9).X;
  }
}

ForceOracle::Wrench ForceOracle::demand(const std::string& joint) const {
  Wrench sum = Wrench::Zero();
  const Eigen::Vector3d gravity = vectorOf(mechanism_.gravity);
  for (const Body& body : mechanism_.bodies) {
    if (carrierOf(body.name) != joint) {
      continue;
    }
    const Oracle::Motion m = at(body.name, vectorOf(body.centerOfMass));
    const Eigen::Matrix3d I = m.R * matrixOf(body.inertia) * m.R.transpose();
    const Eigen::Vector3d force = body.mass * (m.acceleration + m.linear * accelerations - gravity);
    const Eigen::Vector3d moment = I * (m.angularAcceleration + m.angular * accelerations) +
                                   m.angularVelocity.cross(I * m.angularVelocity);
    sum.head<3>() += force;
    sum.tail<3>() += moment + m.p.cross(force);
  }
  const auto external = external_.find(joint);
  return external == external_.end() ? sum : sum - external->second;
}

}  // namespace kempe::test
