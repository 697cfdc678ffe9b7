#pragma once

#include <limits>
#include <string>

#include "kempe/mechanism.hpp"

/// What a Simulator can put on a robot beside its bodies: springs, dampers, limits, friction,
/// motors.
namespace kempe {

/// A force along one coordinate of a joint: −stiffness (q − rest) − damping q̇. Any joint whose
/// positions are plain numbers can have one, also one that loops determine.
struct JointSpring {
  Coordinate joint{};
  double stiffness = 0.0;  ///< N·m/rad or N/m
  double rest = 0.0;       ///< position without force
  double damping = 0.0;    ///< N·m·s/rad or N·s/m
};

/// A spring and damper between two points on bodies, or between a body and the world's root:
/// tension = stiffness (length − rest) + damping · rate of length.
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

/// An end stop: beyond the bound a spring pushes back, with a damper that never pulls. Bounds that
/// are not given are those of the model.
struct JointLimit {
  Coordinate joint{};
  double stiffness = 0.0;  ///< N·m/rad or N/m
  double damping = 0.0;    ///< N·m·s/rad or N·s/m
  double lower = std::numeric_limits<double>::quiet_NaN();
  double upper = std::numeric_limits<double>::quiet_NaN();
};

/// Friction that can stick, made smooth: F tanh(q̇ / slipSpeed) + viscous q̇, where F is `coulomb`
/// once it slides and, if `breakaway` is given, that much near rest (Stribeck):
/// F = coulomb + (breakaway − coulomb) exp(−(q̇ / stribeckSpeed)²).
///
/// A joint that sticks creeps, at a speed below slipSpeed. Steps must be short against the time in
/// which friction stops it within slipSpeed: about inertia · slipSpeed / F.
struct JointFriction {
  Coordinate joint{};
  double coulomb = 0.0;  ///< N·m or N
  double slipSpeed = 1e-3;
  double viscous = 0.0;
  double breakaway = 0.0;  ///< 0: as coulomb
  double stribeckSpeed = 1e-2;
};

/// A motor that drives a joint through a gear.
///
/// The rotor is best a body of the mechanism, coupled to the joint it drives: then its inertia is
/// exact, and the motor's joint is the rotor's, with gear 1 and rotorInertia 0. A rotorInertia that
/// is given here is reflected: gear² · rotorInertia is added to the joint's armature, which leaves
/// out what the rotor feels of the motion of the body that carries it.
struct Motor {
  enum class Side { Rotor, Joint };
  std::string joint{};  ///< with one freedom
  double gear = 1.0;    ///< turns of the rotor for one of the joint
  double rotorInertia = 0.0;
  double torqueLimit = std::numeric_limits<double>::infinity();  ///< of the rotor
  /// The torque-speed line of the rotor: at speed ω its torque is at most
  /// stallTorque (1 − ω / noLoadSpeed), in both directions of turning.
  double stallTorque = std::numeric_limits<double>::infinity();
  double noLoadSpeed = std::numeric_limits<double>::infinity();
  double viscousFriction = 0.0;  ///< of the rotor, N·m·s/rad
  Side commandAt = Side::Rotor;  ///< where the commanded torque is meant
};

}  // namespace kempe
