#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kempe/export.hpp"
#include "kempe/model.hpp"

namespace kempe {

enum class Integrator { SemiImplicitEuler, RungeKutta4, ImplicitMidpoint, Adaptive };
/// "semi_implicit_euler", "rk4", "implicit_midpoint", "adaptive".
KEMPE_API std::string_view toString(Integrator integrator);
/// Throws std::invalid_argument, which lists the names.
KEMPE_API Integrator integratorCalled(std::string_view name);

/// Energy that has come and gone since the start, joules. For an exact integrator the energy is
/// that of the start + controller + external + motors − damping − friction − limits.
struct Work {
  double controller = 0.0;  ///< done by tau
  double external = 0.0;    ///< done by external forces
  double motors = 0.0;      ///< done by motors, at the rotor, before its own friction
  double damping = 0.0;     ///< taken by dampers, those of springs and motors among them
  double friction = 0.0;    ///< taken by dry friction
  double limits = 0.0;      ///< taken by the dampers of end stops

  [[nodiscard]] double balance() const {
    return controller + external + motors - damping - friction - limits;
  }
};

/// All that a Simulator needs to go on from a moment exactly as it did.
struct Snapshot {
  double time = 0.0;
  Vector q{};
  Vector velocities{};                     ///< of all tree joints
  std::vector<std::string> coordinates{};  ///< that were independent at that moment
  Work work{};
  std::array<double, 2> stepControl{};  ///< of the adaptive integrator: next step, error before
};

/// A recorded motion: samples at the start and after every step. `velocities` are those of all tree
/// joints, which exist at dead points too; `v` are those of the model's own coordinates among them.
struct Recording {
  struct Sample {
    double time = 0.0;
    Vector q{}, v{}, tau{}, velocities{};
    double kinetic = 0.0, potential = 0.0;
    double loopError = 0.0;  ///< largest |loopResidual|
    Work work{};
    int choice = 0;  ///< into `choices`
    std::array<double, 2> stepControl{};
  };

  std::string robot{};
  Integrator integrator = Integrator::RungeKutta4;
  double dt = 0.0;
  std::vector<std::string> qNames{}, vNames{}, velocityNames{};
  std::vector<std::vector<std::string>> choices{};  ///< independent coordinates that were used
  std::vector<Sample> samples{};

  /// Sample i, for Simulator::restore.
  [[nodiscard]] KEMPE_API Snapshot snapshot(std::size_t i) const;

  /// Writes a text file: a line "kempe recording 1", lines of a word and what it names, and a line
  /// of numbers for each sample, with all digits, so that load() gives the same back to the last
  /// bit. docs/simulation.md describes it.
  KEMPE_API void save(const std::filesystem::path& path) const;
  /// Throws std::runtime_error, which names the file and line, where it is something else.
  KEMPE_API static Recording load(const std::filesystem::path& path);
};

}  // namespace kempe
