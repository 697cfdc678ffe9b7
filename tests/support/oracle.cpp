#include "support/oracle.hpp"

#include "support/loop_rows.hpp"

namespace kempe::test {
namespace {

Eigen::Matrix3d coefficient(const Frame<Jet>& frame, double Jet::*part) {
  Eigen::Matrix3d m;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      m(i, j) = frame.R[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)].*part;
    }
  }
  return m;
}

Eigen::Vector3d coefficient(const Triple<Jet>& x, double Jet::*part) {
  return {x[0].*part, x[1].*part, x[2].*part};
}

Eigen::Vector3d axial(const Eigen::Matrix3d& skew) {
  return 0.5 *
         Eigen::Vector3d(skew(2, 1) - skew(1, 2), skew(0, 2) - skew(2, 0), skew(1, 0) - skew(0, 1));
}

/// ω of Ṙ Rᵀ = ω×.
Eigen::Vector3d angularVelocityOf(const Frame<Jet>& frame) {
  return axial(coefficient(frame, &Jet::first) * coefficient(frame, &Jet::value).transpose());
}

Triple<Jet> jets(const Eigen::Vector3d& x) {
  return {Jet(x.x()), Jet(x.y()), Jet(x.z())};
}

}  // namespace

Oracle::Oracle(const Model& model)
    : mechanism_(model.mechanism()),
      positions_(model.nqSpanning()),
      velocities_(model.nvSpanning()) {
  for (const std::string& joint : model.jointNames()) {
    places_[joint] = {model.jointPositionIndex(joint), model.jointVelocityIndex(joint)};
  }
}

std::map<std::string, Oracle::JetVector> Oracle::along(const Eigen::VectorXd& positions,
                                                       const Eigen::VectorXd& velocities) const {
  std::map<std::string, JetVector> q;
  for (const Joint& joint : mechanism_.joints) {
    JetVector& values = q[joint.name];
    if (joint.type == JointType::Fixed) {
      continue;
    }
    const Place place = places_.at(joint.name);
    const double* p = positions.data() + place.position;
    const double* v = velocities.data() + place.velocity;
    for (int i = 0; i < positionSize(joint.type); ++i) {
      values.emplace_back(p[i]);
    }
    if (hasScalarCoordinates(joint.type)) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i].first = v[i];
      }
      continue;
    }
    // Constant ω in the body's frame: quaternion p ⊗ exp(t ω / 2), so p′ = p ⊗ ω/2 and
    // p″ = −p |ω|²/4. A free joint moves by R v and, as its body turns, R (ω × v).
    const bool free = joint.type == JointType::Free;
    const std::size_t first = free ? 3 : 0;
    const Eigen::Vector3d w(v[first], v[first + 1], v[first + 2]);
    const Eigen::Quaterniond turn(p[first + 3], p[first], p[first + 1], p[first + 2]);
    const Eigen::Quaterniond rate = turn * Eigen::Quaterniond(0.0, w.x() / 2, w.y() / 2, w.z() / 2);
    const Eigen::Vector4d& rates = rate.coeffs();
    for (std::size_t i = 0; i < 4; ++i) {
      values[first + i].first = rates[static_cast<Eigen::Index>(i)];
      values[first + i].second = -0.25 * w.squaredNorm() * values[first + i].value;
    }
    if (free) {
      const Eigen::Matrix3d R = turn.normalized().toRotationMatrix();
      const Eigen::Vector3d linear(v[0], v[1], v[2]);
      const Eigen::Vector3d velocity = R * linear, acceleration = R * w.cross(linear);
      for (int i = 0; i < 3; ++i) {
        values[static_cast<std::size_t>(i)].first = velocity[i];
        values[static_cast<std::size_t>(i)].second = acceleration[i];
      }
    }
  }
  return q;
}

Frame<Jet> Oracle::frameOf(const std::string& body,
                           const std::map<std::string, JetVector>& q) const {
  const Joint* joint = mechanism_.jointAbove(body);
  if (joint == nullptr) {
    return Frame<Jet>::identity();
  }
  return frameOf(joint->parent, q) * Frame<Jet>::from(joint->origin) *
         jointFrame(*joint, q.at(joint->name).data());
}

Oracle::JetVector Oracle::rows(const std::map<std::string, JetVector>& q) const {
  const auto coordinate = [&](const Coordinate& c) {
    return q.at(c.joint)[static_cast<std::size_t>(c.component)];
  };
  JetVector result;
  for (const Coupling& coupling : mechanism_.couplings) {
    Jet sum(-coupling.offset);
    for (const Coupling::Term& term : coupling.terms) {
      sum += Jet(term.coefficient) * coordinate(term.coordinate);
    }
    result.push_back(sum);
  }
  for (const LoopJoint& loop : mechanism_.loops) {
    const Frame<Jet> A =
        frameOf(loop.predecessor.body, q) * Frame<Jet>::from(loop.predecessor.frame);
    const Frame<Jet> B = frameOf(loop.successor.body, q) * Frame<Jet>::from(loop.successor.frame);
    for (const Jet& row : loopRows(loop, A.inverse() * B)) {
      result.push_back(row);
    }
  }
  for (const Rod& rod : mechanism_.rods) {
    const Triple<Jet> a =
        frameOf(rod.predecessor.body, q).point(tripleOf<Jet>(rod.predecessor.point));
    const Triple<Jet> b = frameOf(rod.successor.body, q).point(tripleOf<Jet>(rod.successor.point));
    const Triple<Jet> way{b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    result.push_back(dotOf(way, way) - Jet(rod.length * rod.length));
  }
  for (const Function& function : mechanism_.functions) {
    JetVector in, out(static_cast<std::size_t>(function.rows));
    for (const Coordinate& c : function.coordinates) {
      in.push_back(coordinate(c));
    }
    function.jet(in, out);
    result.insert(result.end(), out.begin(), out.end());
  }
  return result;
}

Eigen::VectorXd Oracle::residual(const Eigen::VectorXd& positions) const {
  const JetVector phi = rows(along(positions, Eigen::VectorXd::Zero(velocities_)));
  Eigen::VectorXd result(static_cast<Eigen::Index>(phi.size()));
  for (Eigen::Index i = 0; i < result.size(); ++i) {
    result[i] = phi[static_cast<std::size_t>(i)].value;
  }
  return result;
}

Eigen::MatrixXd Oracle::constraintRows(const Eigen::VectorXd& positions) const {
  Eigen::MatrixXd K(residual(positions).size(), velocities_);
  for (int j = 0; j < velocities_; ++j) {
    const JetVector phi = rows(along(positions, Eigen::VectorXd::Unit(velocities_, j)));
    for (Eigen::Index i = 0; i < K.rows(); ++i) {
      K(i, j) = phi[static_cast<std::size_t>(i)].first;
    }
  }
  return K;
}

Eigen::VectorXd Oracle::constraintBias(const Eigen::VectorXd& positions,
                                       const Eigen::VectorXd& velocities) const {
  const JetVector phi = rows(along(positions, velocities));
  Eigen::VectorXd k(static_cast<Eigen::Index>(phi.size()));
  for (Eigen::Index i = 0; i < k.size(); ++i) {
    k[i] = -phi[static_cast<std::size_t>(i)].second;
  }
  return k;
}

Frame<double> Oracle::placement(const std::string& body, const Eigen::VectorXd& positions) const {
  const Frame<Jet> jet = frameOf(body, along(positions, Eigen::VectorXd::Zero(velocities_)));
  Frame<double> frame;
  for (std::size_t i = 0; i < 3; ++i) {
    frame.p[i] = jet.p[i].value;
    for (std::size_t j = 0; j < 3; ++j) {
      frame.R[i][j] = jet.R[i][j].value;
    }
  }
  return frame;
}

Oracle::Motion Oracle::motion(const std::string& body, const Eigen::Vector3d& point,
                              const Eigen::VectorXd& positions,
                              const Eigen::VectorXd& velocities) const {
  Motion result;
  const Frame<Jet> frame = frameOf(body, along(positions, velocities));
  const Triple<Jet> p = frame.point(jets(point));
  result.R = coefficient(frame, &Jet::value);
  result.p = coefficient(p, &Jet::value);
  result.velocity = coefficient(p, &Jet::first);
  result.acceleration = coefficient(p, &Jet::second);
  result.angularVelocity = angularVelocityOf(frame);
  // d/dt (Ṙ Rᵀ) = R̈ Rᵀ + Ṙ Ṙᵀ
  const Eigen::Matrix3d rate = coefficient(frame, &Jet::first);
  result.angularAcceleration =
      axial(coefficient(frame, &Jet::second) * result.R.transpose() + rate * rate.transpose());
  result.linear.setZero(3, velocities_);
  result.angular.setZero(3, velocities_);
  for (const Joint* joint = mechanism_.jointAbove(body); joint != nullptr;
       joint = mechanism_.jointAbove(joint->parent)) {
    for (int i = 0; i < velocitySize(joint->type); ++i) {
      const int j = places_.at(joint->name).velocity + i;
      const Frame<Jet> moved =
          frameOf(body, along(positions, Eigen::VectorXd::Unit(velocities_, j)));
      result.linear.col(j) = coefficient(moved.point(jets(point)), &Jet::first);
      result.angular.col(j) = angularVelocityOf(moved);
    }
  }
  return result;
}

namespace {

Eigen::Vector3d centerOf(const Body& body) {
  return {body.centerOfMass.x, body.centerOfMass.y, body.centerOfMass.z};
}

Eigen::Matrix3d inertiaOf(const Body& body) {
  const SymMat3<double>& I = body.inertia;
  Eigen::Matrix3d m;
  m << I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz;
  return m;
}

}  // namespace

Eigen::MatrixXd Oracle::massMatrix(const Eigen::VectorXd& positions) const {
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(velocities_, velocities_);
  for (const Body& body : mechanism_.bodies) {
    const Motion m =
        motion(body.name, centerOf(body), positions, Eigen::VectorXd::Zero(velocities_));
    H += body.mass * m.linear.transpose() * m.linear +
         m.angular.transpose() * m.R * inertiaOf(body) * m.R.transpose() * m.angular;
  }
  for (const Joint& joint : mechanism_.joints) {
    for (int i = 0; i < velocitySize(joint.type); ++i) {
      const int j = places_.at(joint.name).velocity + i;
      H(j, j) += joint.armature;
    }
  }
  return H;
}

Eigen::VectorXd Oracle::biasForces(const Eigen::VectorXd& positions,
                                   const Eigen::VectorXd& velocities) const {
  const Vector3& g = mechanism_.gravity;
  Eigen::VectorXd h = Eigen::VectorXd::Zero(velocities_);
  for (const Body& body : mechanism_.bodies) {
    const Motion m = motion(body.name, centerOf(body), positions, velocities);
    const Eigen::Matrix3d I = m.R * inertiaOf(body) * m.R.transpose();
    const Eigen::Vector3d force = body.mass * (m.acceleration - Eigen::Vector3d(g.x, g.y, g.z));
    const Eigen::Vector3d moment =
        I * m.angularAcceleration + m.angularVelocity.cross(I * m.angularVelocity);
    h += m.linear.transpose() * force + m.angular.transpose() * moment;
  }
  return h;
}

Eigen::VectorXd Oracle::springForces(const Eigen::VectorXd& positions) const {
  Eigen::VectorXd forces = Eigen::VectorXd::Zero(velocities_);
  for (const Joint& joint : mechanism_.joints) {
    if (joint.stiffness != 0.0) {
      const Place place = places_.at(joint.name);
      forces[place.velocity] =
          joint.stiffness * (positions[place.position] - joint.springReference);
    }
  }
  return forces;
}

double Oracle::springEnergy(const Eigen::VectorXd& positions) const {
  double energy = 0.0;
  for (const Joint& joint : mechanism_.joints) {
    if (joint.stiffness != 0.0) {
      const double stretch = positions[places_.at(joint.name).position] - joint.springReference;
      energy += 0.5 * joint.stiffness * stretch * stretch;
    }
  }
  return energy;
}

double Oracle::kineticEnergy(const Eigen::VectorXd& positions,
                             const Eigen::VectorXd& velocities) const {
  return 0.5 * velocities.dot(massMatrix(positions) * velocities);
}

double Oracle::potentialEnergy(const Eigen::VectorXd& positions) const {
  const Vector3& g = mechanism_.gravity;
  double energy = 0.0;
  for (const Body& body : mechanism_.bodies) {
    const Motion m =
        motion(body.name, centerOf(body), positions, Eigen::VectorXd::Zero(velocities_));
    energy -= body.mass * m.p.dot(Eigen::Vector3d(g.x, g.y, g.z));
  }
  return energy + springEnergy(positions);
}

}  // namespace kempe::test
