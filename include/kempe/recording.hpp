#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kempe/export.hpp"
#include "kempe/model.hpp"

namespace kempe {

/// Methods of time integration; docs/simulation.md compares them.
enum class Integrator {
  SemiImplicitEuler,
  RungeKutta4,
  ImplicitMidpoint,
  Adaptive,  ///< Dormand-Prince 5(4), explicit, with error control
  Radau,     ///< Radau IIA of order 5, implicit, with error control: for stiff motions
  Auto       ///< Adaptive or Radau, whichever is cheaper along the motion
};
/// Returns "semi_implicit_euler", "rk4", "implicit_midpoint", "adaptive", "radau" or "auto".
KEMPE_API std::string_view toString(Integrator integrator);
/// Returns the integrator of this name. Throws std::invalid_argument, which lists the names, if
/// there is none.
KEMPE_API Integrator integratorCalled(std::string_view name);

/// Energy supplied and dissipated since the start, in joules. For an exact integrator, energy =
/// initial energy + controller + external + motors − damping − friction − limits.
struct Work {
  double controller = 0.0;  ///< done by tau
  double external = 0.0;    ///< done by external forces
  double motors = 0.0;      ///< done by motors, at the rotor, before its own friction
  double damping = 0.0;     ///< dissipated by dampers, including those of springs and motors
  double friction = 0.0;    ///< dissipated by dry friction
  double limits = 0.0;      ///< dissipated by the dampers of end stops

  [[nodiscard]] double supplied() const { return controller + external + motors; }
  [[nodiscard]] double lost() const { return damping + friction + limits; }
  [[nodiscard]] double balance() const { return supplied() - lost(); }
};

/// Memory of the error-controlled integrators from one step to the next.
struct StepControl {
  double nextStep = 0.0;       ///< seconds; 0 if it is to be chosen from the state
  double previousStep = 0.0;   ///< seconds
  double previousError = 0.0;  ///< relative to the tolerances
  /// The method at work, which Integrator::Auto has chosen.
  Integrator inUse = Integrator::Adaptive;
  // Integrator::Auto: the reasons to change the method.
  int hints = 0;                   ///< steps that speak for the other one
  int patience = 0;                ///< hints that the next change takes; 0 before the first
  double evaluations = 0.0;        ///< of recent steps, fading
  double seconds = 0.0;            ///< simulated in these steps
  double evaluationsBefore = 0.0;  ///< per second, of the method before

  [[nodiscard]] bool operator==(const StepControl&) const = default;
};

/// The complete state of a Simulator at one time, from which it can continue exactly.
struct Snapshot {
  double time = 0.0;
  Vector q{};
  Vector velocities{};                     ///< of all tree joints
  std::vector<std::string> coordinates{};  ///< independent coordinates at that time
  Work work{};
  StepControl stepControl{};
  std::uint64_t model = 0;  ///< fingerprint of the robot; 0 if it is not known
};

/// A recorded motion: samples at the start and after every step. `velocities` are those of all tree
/// joints, which are defined at dead points too; `v` are those of the model's independent
/// coordinates among them.
struct Recording {
  struct Sample {
    double time = 0.0;
    Vector q{}, v{}, tau{}, velocities{};
    Vector a{};  ///< accelerations of the model's coordinates; NaN in a file of format 1
    /// Generalised forces at all tree joints: tau, springs, motors, friction, stops, constraints.
    /// Empty in files of earlier versions.
    Vector forces{};
    /// External forces, springs between points and constraints: [force; moment] on the body of each
    /// joint (Model::jointNames), in world axes about the world's origin; empty if there are none.
    Vector wrenches{};
    double kinetic = 0.0, potential = 0.0;
    double loopError = 0.0;  ///< largest |loopResidual|
    Work work{};
    int choice = 0;  ///< index into `choices`
    StepControl stepControl{};
  };

  std::string robot{};
  Integrator integrator = Integrator::RungeKutta4;
  double dt = 0.0;
  std::vector<std::string> qNames{}, vNames{}, velocityNames{};
  std::vector<std::vector<std::string>> choices{};  ///< sets of independent coordinates used
  std::vector<Sample> samples{};
  std::uint64_t model = 0;              ///< fingerprint of the robot, for Snapshot::model
  std::vector<std::string> warnings{};  ///< of Simulator::warnings() at the end of the run
  /// Simulator::energyExchanged() at the end of the run; 0 in files of earlier versions.
  double energyExchanged = 0.0;

  /// Returns the largest |energy − energy at the start − work + losses|, relative to the energy
  /// exchanged: the larger of energyExchanged and that of the samples.
  [[nodiscard]] KEMPE_API double energyDrift() const;

  /// Returns sample i as a snapshot for Simulator::restore.
  [[nodiscard]] KEMPE_API Snapshot snapshot(std::size_t i) const;

  /// Writes a text file: the line "kempe recording 2", header lines that consist of a keyword and
  /// its values, and one line of numbers per sample. Numbers have all their digits, so that load()
  /// restores them to the last bit. docs/simulation.md describes the format, which Python's kempe.Run
  /// writes and reads too.
  /// Throws std::system_error, which has the reason, if the file cannot be written.
  KEMPE_API void save(const std::filesystem::path& path) const;
  /// Reads a file written by save(), also one of format 1. Throws std::runtime_error, which names file and line, if the
  /// file is not a recording.
  KEMPE_API static Recording load(const std::filesystem::path& path);
};

}  // namespace kempe
