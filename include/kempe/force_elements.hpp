#pragma once

#include <limits>
#include <string>

#include "kempe/mechanism.hpp"

/// Force elements that a Simulator can add to a robot: springs, dampers, end stops, friction and
/// motors.
namespace kempe {

/// A spring and damper along one coordinate of a joint: force = −stiffness (q − rest) − damping q̇.
/// Any joint with scalar coordinates can have one, dependent joints included.
struct JointSpring {
  Coordinate joint{};
  double stiffness = 0.0;  ///< N·m/rad or N/m
  double rest = 0.0;       ///< position at which the spring force is zero
  double damping = 0.0;    ///< N·m·s/rad or N·s/m
};

/// A spring and damper between points on two bodies, one of which may be the root:
/// tension = stiffness (length − restLength) + damping · d(length)/dt.
struct PointSpring {
  struct End {
    std::string frame{};  ///< a body or a joint
    Vector3 point{};      ///< in that frame
  };
  End from{}, to{};
  double stiffness = 0.0;   ///< N/m
  double restLength = 0.0;  ///< m
  double damping = 0.0;     ///< N·s/m
};

/// An end stop. A bound that is NaN is taken from the model.
///
/// With stiffness 0 the stop is rigid: the joint never passes it, and leaves it after an impact with
/// `restitution` times the speed of the impact, all joints being changed by one impulse (Newton's
/// law). Otherwise it is elastic: beyond the bound, a spring and a damper push the joint back; their
/// sum never pulls it outwards.
struct JointLimit {
  Coordinate joint{};
  double stiffness = 0.0;  ///< N·m/rad or N/m; 0: rigid
  double damping = 0.0;    ///< N·m·s/rad or N·s/m, of elastic stops
  double lower = std::numeric_limits<double>::quiet_NaN();
  double upper = std::numeric_limits<double>::quiet_NaN();
  double restitution = 0.0;  ///< 0 to 1, of rigid stops
};

/// Dry and viscous friction: F sign(q̇) + viscous q̇. At rest the joint sticks: its velocity is
/// exactly zero as long as a friction of at most F(0) can hold it. F equals `coulomb` during sliding
/// and, if `breakaway` is given, rises to `breakaway` at rest (Stribeck effect):
/// F = coulomb + (breakaway − coulomb) exp(−(q̇ / stribeckSpeed)²).
///
/// A slipSpeed greater than zero makes it smooth instead: F tanh(q̇ / slipSpeed). A joint then never
/// sticks but creeps, and time steps must be short compared with inertia · slipSpeed / F.
struct JointFriction {
  Coordinate joint{};
  double coulomb = 0.0;    ///< N·m or N
  double slipSpeed = 0.0;  ///< rad/s or m/s; 0: exact
  double viscous = 0.0;
  double breakaway = 0.0;  ///< 0: same as coulomb
  double stribeckSpeed = 1e-2;
};

/// A motor that drives a joint through a gear.
///
/// Preferably the rotor is a body of the mechanism, geared to the joint that it drives. Its inertia
/// is then exact; `joint` is the rotor's joint, gear = 1 and rotorInertia = 0. A rotorInertia given
/// here is only reflected: gear² · rotorInertia is added to the joint's armature, which neglects
/// the coupling between the rotor and the motion of the body that carries it.
struct Motor {
  enum class Side { Rotor, Joint };
  std::string joint{};  ///< a joint with one degree of freedom (DoF)
  double gear = 1.0;    ///< turns of the rotor per turn of the joint
  double rotorInertia = 0.0;
  double torqueLimit = std::numeric_limits<double>::infinity();  ///< at the rotor
  /// Torque-speed curve of the rotor: at speed ω its torque is at most
  /// stallTorque (1 − ω / noLoadSpeed), in both directions of rotation.
  double stallTorque = std::numeric_limits<double>::infinity();
  double noLoadSpeed = std::numeric_limits<double>::infinity();
  double viscousFriction = 0.0;  ///< at the rotor, N·m·s/rad
  Side commandAt = Side::Rotor;  ///< side of the gear on which the commanded torque is defined
};

}  // namespace kempe
