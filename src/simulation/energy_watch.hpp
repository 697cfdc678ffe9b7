#pragma once

namespace kempe::detail {

/// Compares the energy of a motion with the work supplied and the losses, sample by sample:
///   error = energy − energy at the first sample − work + losses,
/// which is zero for an exact integrator. It is judged relative to the energy exchanged: the
/// largest of the peak kinetic energy, the range of the potential energy, work and losses, and a
/// millionth of the energy itself, so that rounding does not count for a robot at rest. Work and
/// losses count between samples too: a controller that stops a motion there supplies and takes back
/// energy of which the samples show nothing.
class EnergyWatch {
 public:
  struct Sample {
    double time = 0.0;
    double kinetic = 0.0, potential = 0.0;
    double work = 0.0, losses = 0.0;  ///< since any time
    double regularity = 1.0;          ///< the least of a cluster's loops since the last sample
    int cluster = -1;                 ///< that cluster; −1: none
  };
  /// The interval between samples in which the error changed most.
  struct Jump {
    double time = 0.0;    ///< its end
    double change = 0.0;  ///< of the error, J
    double regularity = 1.0;
    int cluster = -1;
  };

  /// Forgets all samples.
  void reset() { *this = {}; }
  [[nodiscard]] bool started() const { return started_; }
  void add(const Sample& sample);
  /// Work and losses after a step, between samples.
  void addFlows(double work, double losses);

  /// At the last sample, J.
  [[nodiscard]] double error() const { return error_; }
  /// The largest so far, J.
  [[nodiscard]] double largestError() const { return largest_; }
  /// The largest error relative to the energy exchanged.
  [[nodiscard]] double drift() const;
  [[nodiscard]] const Jump& largestJump() const { return jump_; }
  /// Whether the error exceeds by far the energy exchanged while the balance was kept.
  [[nodiscard]] bool diverged() const;

  /// J.
  [[nodiscard]] double exchanged() const;
  /// Whether no more than a millionth of the energy was exchanged.
  [[nodiscard]] bool isAtRest() const;

 private:
  /// But for that of a robot at rest.
  [[nodiscard]] double exchangedInMotion() const;

  bool started_ = false;
  double start_ = 0.0;  // energy − work + losses
  double startWork_ = 0.0, startLosses_ = 0.0;
  double peakKinetic_ = 0.0, lowest_ = 0.0, highest_ = 0.0;
  double peakWork_ = 0.0, peakLosses_ = 0.0, peakEnergy_ = 0.0;
  double error_ = 0.0, largest_ = 0.0;
  double exchangedInBalance_ = 0.0;
  Jump jump_;
};

}  // namespace kempe::detail
