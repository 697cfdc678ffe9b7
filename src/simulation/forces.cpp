#include "simulation/forces.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/external_forces.hpp"
#include "spatial/dual.hpp"
#include "text/messages.hpp"

namespace kempe::detail {
namespace {

[[noreturn]] void refuse(const std::string& element, const std::string& why) {
  throw std::invalid_argument(element + ": " + why);
}

void requireNotNegative(const std::string& element, const char* name, double value) {
  if (!(value >= 0.0) || !std::isfinite(value)) {
    refuse(element,
           std::string(name) + " must be zero or more and finite, got " + shortNumber(value));
  }
}

void requireFinite(const std::string& element, const char* name, double value) {
  if (!std::isfinite(value)) {
    refuse(element, std::string(name) + " is not finite");
  }
}

/// Greater than zero; may be infinite.
void requirePositive(const std::string& element, const char* name, double value) {
  if (!(value > 0.0)) {
    refuse(element, std::string(name) + " must be greater than zero, got " + shortNumber(value));
  }
}

/// The index of a coordinate, for elements on scalar positions. Its own name, such as
/// "slide.distance", may stand for that of the joint and the component.
SpanningPlace placeOf(const Model& model, const std::string& element, const Coordinate& where) {
  const ModelImpl& m = model.impl();
  const auto found = m.bodyByJoint.find(where.joint);
  if (found == m.bodyByJoint.end()) {
    for (std::size_t b = 0; b < m.jointNames.size(); ++b) {
      const BodyEntry<double>& body = m.tables.bodies[b];
      for (int i = 0; hasScalarCoordinates(body.type) && i < velocitySize(body.type); ++i) {
        if (where.component == 0 && m.positionNames[body.firstPosition + i] == where.joint) {
          return {body.firstPosition + i, body.firstVelocity + i};
        }
      }
    }
    refuse(element, "model " + kempe::quoted(m.mechanism.name) +
                        " has no moving joint or coordinate of this name");
  }
  const BodyEntry<double>& body = m.tables.bodies[found->second];
  if (!hasScalarCoordinates(body.type)) {
    refuse(element, "a " + std::string(toString(body.type)) +
                        " joint has no scalar positions. Put a spring between "
                        "points, or use external forces.");
  }
  if (where.component < 0 || where.component >= velocitySize(body.type)) {
    refuse(element, "component " + std::to_string(where.component) + " of a joint with " +
                        std::to_string(velocitySize(body.type)));
  }
  return {body.firstPosition + where.component, body.firstVelocity + where.component};
}

template <typename List>
int lastOf(const List& list) {
  return static_cast<int>(list.size()) - 1;
}

double hyperbolicTangent(double a) {
  return std::tanh(a);
}
Dual<double> hyperbolicTangent(const Dual<double>& a) {
  const double tangent = std::tanh(a.value);
  return {tangent, a.slope * (1.0 - tangent * tangent)};
}

/// F tanh(q̇ / slipSpeed), with F higher near rest (Stribeck).
template <typename T>
T smoothFriction(const JointFriction& friction, const T& rate) {
  using std::exp;
  T size(friction.coulomb);
  if (friction.breakaway > 0.0) {
    const T x = rate / T(friction.stribeckSpeed);
    size += T(friction.breakaway - friction.coulomb) * exp(-x * x);
  }
  return size * hyperbolicTangent(rate / T(friction.slipSpeed));
}

/// The commanded torque at the rotor, within the limits of the motor.
template <typename T>
T rotorTorque(const Motor& motor, double command, const T& speed) {
  T torque(motor.commandAt == Motor::Side::Joint ? command / motor.gear : command);
  if (std::isfinite(motor.stallTorque)) {
    const T part = speed / T(motor.noLoadSpeed);
    const T least = T(-motor.stallTorque) * (T(1.0) + part);
    const T most = T(motor.stallTorque) * (T(1.0) - part);
    torque = std::clamp(torque, least, most);
  }
  return std::clamp(torque, T(-motor.torqueLimit), T(motor.torqueLimit));
}

}  // namespace

int ForceElements::add(const Model& model, const JointSpring& spring) {
  const std::string name = "spring on joint " + kempe::quoted(spring.joint.joint);
  const SpanningPlace place = placeOf(model, name, spring.joint);
  requireNotNegative(name, "stiffness", spring.stiffness);
  requireNotNegative(name, "damping", spring.damping);
  requireFinite(name, "rest", spring.rest);
  springs_.push_back({spring, place});
  return lastOf(springs_);
}

int ForceElements::add(const Model& model, const PointSpring& spring) {
  const std::string name =
      "spring from " + kempe::quoted(spring.from.frame) + " to " + kempe::quoted(spring.to.frame);
  requireNotNegative(name, "stiffness", spring.stiffness);
  requireNotNegative(name, "damping", spring.damping);
  requireNotNegative(name, "the rest length", spring.restLength);
  const auto placed = [&](const PointSpring::End& end) {
    for (int i = 0; i < 3; ++i) {
      requireFinite(name, "point", end.point[i]);
    }
    try {
      const int frame = model.frameIndex(end.frame);
      return PlacedPoint{frame, model.impl().frames[static_cast<std::size_t>(frame)], end.point};
    } catch (const std::invalid_argument& error) {
      refuse(name, error.what());
    }
  };
  pointSprings_.push_back({spring, placed(spring.from), placed(spring.to)});
  if (pointSprings_.back().from.entry.body == pointSprings_.back().to.entry.body) {
    pointSprings_.pop_back();
    refuse(name, "both ends are on one body, so that its length never changes");
  }
  return lastOf(pointSprings_);
}

int ForceElements::add(const Model& model, const JointLimit& limit) {
  const std::string name = "limit of joint " + kempe::quoted(limit.joint.joint);
  const SpanningPlace place = placeOf(model, name, limit.joint);
  JointLimit complete = limit;
  if (std::isnan(limit.lower)) {
    complete.lower = model.impl().lower[place.position];
  }
  if (std::isnan(limit.upper)) {
    complete.upper = model.impl().upper[place.position];
  }
  if (std::isinf(complete.lower) && std::isinf(complete.upper)) {
    refuse(name, "the model has no bounds for it. Give lower or upper.");
  }
  if (!(complete.lower < complete.upper)) {
    refuse(name, "lower bound " + shortNumber(complete.lower) + " is not below the upper one " +
                     shortNumber(complete.upper));
  }
  requireNotNegative(name, "stiffness", limit.stiffness);
  requireNotNegative(name, "damping", limit.damping);
  if (limit.stiffness == 0.0 && limit.damping > 0.0) {
    refuse(name, "a rigid stop has no damping. Give it a stiffness, or a restitution instead.");
  }
  if (!(limit.restitution >= 0.0 && limit.restitution <= 1.0)) {
    refuse(name, "restitution must be between 0 and 1, got " + shortNumber(limit.restitution));
  }
  if (limit.stiffness > 0.0 && limit.restitution > 0.0) {
    refuse(name, "restitution is for rigid stops. Give an elastic stop a damping instead.");
  }
  switches.addStops(model.impl(), place, complete);
  return limits_++;
}

void ForceElements::place(const Model& model, const std::string& joint, SpanningPlace at,
                          const JointFriction& friction) {
  if (friction.slipSpeed > 0.0) {
    smoothFrictions_.push_back({friction, at});
  } else {
    switches.addFriction(model.impl(), joint, at, friction);
  }
}

int ForceElements::add(const Model& model, const JointFriction& friction) {
  const std::string name = "friction of joint " + kempe::quoted(friction.joint.joint);
  const SpanningPlace place = placeOf(model, name, friction.joint);
  requireNotNegative(name, "coulomb", friction.coulomb);
  requireNotNegative(name, "viscous", friction.viscous);
  requireNotNegative(name, "breakaway", friction.breakaway);
  requireNotNegative(name, "the slip speed", friction.slipSpeed);
  requirePositive(name, "the Stribeck speed", friction.stribeckSpeed);
  if (friction.breakaway > 0.0 && friction.breakaway < friction.coulomb) {
    refuse(name, "breakaway " + shortNumber(friction.breakaway) + " is less than coulomb " +
                     shortNumber(friction.coulomb));
  }
  this->place(model, friction.joint.joint, place, friction);
  return frictions_++;
}

int ForceElements::add(const Model& model, const Motor& motor) {
  const std::string name = "motor of joint " + kempe::quoted(motor.joint);
  const SpanningPlace place = placeOf(model, name, motor.joint);
  if (velocitySize(model.mechanism().findJoint(motor.joint)->type) != 1) {
    refuse(name, "a motor must drive a joint with one degree of freedom");
  }
  if (!std::isfinite(motor.gear) || motor.gear == 0.0) {
    refuse(name, "gear must be finite and not zero, got " + shortNumber(motor.gear));
  }
  requireNotNegative(name, "the rotor inertia", motor.rotorInertia);
  requireNotNegative(name, "the viscous friction", motor.viscousFriction);
  requirePositive(name, "the torque limit", motor.torqueLimit);
  requirePositive(name, "the stall torque", motor.stallTorque);
  requirePositive(name, "the no-load speed", motor.noLoadSpeed);
  Motor complete = motor;
  if (std::isinf(motor.stallTorque)) {
    complete.stallTorque = motor.torqueLimit;
  }
  if (std::isfinite(motor.noLoadSpeed) && !std::isfinite(complete.stallTorque)) {
    refuse(name, "a no-load speed needs a stall torque or a torque limit with it");
  }
  motors_.push_back({complete, place});
  return lastOf(motors_);
}

void ForceElements::applyToJoints(const ForceState& state, const Eigen::VectorXd& commands,
                                  Eigen::VectorXd& torques) const {
  switches.apply(state);
  for (const auto& [spring, at] : springs_) {
    const double rate = state.velocities[at.velocity];
    state.forces[at.velocity] -=
        spring.stiffness * (state.positions[at.position] - spring.rest) + spring.damping * rate;
    state.power[kDamping] += spring.damping * rate * rate;
  }
  for (const auto& [friction, at] : smoothFrictions_) {
    const double rate = state.velocities[at.velocity];
    const double dry = smoothFriction(friction, rate);
    state.forces[at.velocity] -= dry + friction.viscous * rate;
    state.power[kFriction] += dry * rate;
    state.power[kDamping] += friction.viscous * rate * rate;
  }
  for (std::size_t i = 0; i < motors_.size(); ++i) {
    const auto& [motor, at] = motors_[i];
    const double speed = motor.gear * state.velocities[at.velocity];
    const double torque = rotorTorque(motor, commands[static_cast<Eigen::Index>(i)], speed);
    torques[static_cast<Eigen::Index>(i)] = torque;
    state.forces[at.velocity] += motor.gear * (torque - motor.viscousFriction * speed);
    state.power[kMotors] += torque * speed;
    state.power[kDamping] += motor.viscousFriction * speed * speed;
  }
}

void ForceElements::addSlopes(const Eigen::VectorXd& velocities, const Eigen::VectorXd& commands,
                              JointSlopes& slopes) const {
  switches.addSlopes(velocities, slopes);
  for (const auto& [spring, at] : springs_) {
    slopes.byPosition[at.velocity] -= spring.stiffness;
    slopes.byVelocity[at.velocity] -= spring.damping;
  }
  for (const auto& [friction, at] : smoothFrictions_) {
    const Dual<double> rate(velocities[at.velocity], 1.0);
    slopes.byVelocity[at.velocity] -= smoothFriction(friction, rate).slope + friction.viscous;
  }
  for (std::size_t i = 0; i < motors_.size(); ++i) {
    const auto& [motor, at] = motors_[i];
    const Dual<double> speed(motor.gear * velocities[at.velocity], motor.gear);
    const double slope = rotorTorque(motor, commands[static_cast<Eigen::Index>(i)], speed).slope;
    slopes.byVelocity[at.velocity] += motor.gear * (slope - motor.viscousFriction * motor.gear);
  }
}

void ForceElements::applyBetweenPoints(const WorkView<double>& work,
                                       const ForceState& state) const {
  for (const PlacedPointSpring& spring : pointSprings_) {
    const MovingPoint<double> a = motionOf(work, spring.from), b = motionOf(work, spring.to);
    const Vector3 line = b.position - a.position;
    const double length = norm(line);
    if (!(length > 0.0)) {
      if (spring.element.restLength > 0.0 && spring.element.stiffness > 0.0) {
        refuse("spring from " + kempe::quoted(spring.element.from.frame) + " to " +
                   kempe::quoted(spring.element.to.frame),
               "its length is zero, so that the direction in which it pushes is not determined. "
               "Start with its ends apart, or give it a rest length of zero.");
      }
      continue;  // no force
    }
    const Vector3 direction = (1.0 / length) * line;
    const double rate = dot(direction, b.velocity - a.velocity);
    const PointSpring& element = spring.element;
    const double tension =
        element.stiffness * (length - element.restLength) + element.damping * rate;
    const auto pull = [&](int frame, const MovingPoint<double>& at, const Vector3& force) {
      const Vector3 moment = cross(at.fromFrame, force);
      state.external.push_back({frame, {force.x, force.y, force.z, moment.x, moment.y, moment.z}});
    };
    pull(spring.from.frame, a, tension * direction);
    pull(spring.to.frame, b, -tension * direction);
    state.power[kDamping] += element.damping * rate * rate;
  }
}

double ForceElements::potential(const std::vector<double>& positions) const {
  double sum = switches.potential(positions);
  for (const auto& [spring, at] : springs_) {
    const double stretch = positions[at.position] - spring.rest;
    sum += 0.5 * spring.stiffness * stretch * stretch;
  }
  return sum;
}

double ForceElements::pointPotential(const WorkView<double>& work) const {
  double sum = 0.0;
  for (const PlacedPointSpring& spring : pointSprings_) {
    const double length =
        norm(motionOf(work, spring.to).position - motionOf(work, spring.from).position);
    const double stretch = length - spring.element.restLength;
    sum += 0.5 * spring.element.stiffness * stretch * stretch;
  }
  return sum;
}

double externalPower(const ModelImpl& model, const WorkView<double>& work,
                     const std::vector<FrameForce>& external) {
  double power = 0.0;
  for (const FrameForce& force : external) {
    const FrameEntry& frame = model.frames[static_cast<std::size_t>(force.frame)];
    const Pose X =
        referenceFrame(BodyFrame<double>{frame.body, frame.inBody, force.reference}, work);
    const std::array<double, 6>& w = force.wrench;
    const Force<double> wrench{{w[3], w[4], w[5]}, {w[0], w[1], w[2]}};
    power += dot(X * wrench, work.v[frame.body]);
  }
  return power;
}

}  // namespace kempe::detail
