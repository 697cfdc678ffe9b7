#include "simulation/radau.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kempe/spatial/factorization.hpp"
#include "simulation/step_derivatives.hpp"

namespace kempe::detail {
namespace {

constexpr int kStages = Radau::kStages;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

constexpr double kRoot6 = 2.4494897427831780982;
constexpr std::array<double, kStages> kNodes{(4 - kRoot6) / 10, (4 + kRoot6) / 10, 1.0};
using Matrix3 = std::array<std::array<double, kStages>, kStages>;
constexpr Matrix3 kA{
    {{(88 - 7 * kRoot6) / 360, (296 - 169 * kRoot6) / 1800, (-2 + 3 * kRoot6) / 225},
     {(296 + 169 * kRoot6) / 1800, (88 + 7 * kRoot6) / 360, (-2 - 3 * kRoot6) / 225},
     {(16 - kRoot6) / 36, (16 + kRoot6) / 36, 1.0 / 9}}};
/// The weights: the last row of A.
constexpr std::array<double, kStages> kWeights{(16 - kRoot6) / 36, (16 + kRoot6) / 36, 1.0 / 9};

// A⁻¹ has the eigenvalues γ and α ± iβ: T⁻¹ A⁻¹ T = Λ = [γ 0 0; 0 α β; 0 −β α]. Columns of T are
// the eigenvectors whose last entry is one, real and imaginary part.
constexpr double kGamma = 3.6378342527444957322;
constexpr double kAlpha = 2.6810828736277521339;
constexpr double kBeta = 3.0504301992474105694;
constexpr Matrix3 kT{{{0.094438762488975241487, -0.14125529502095420843, 0.030029194105147424492},
                      {0.25021312296533331138, 0.204129352293799932, -0.3829421127572619378},
                      {1, 1, 0}}};
constexpr Matrix3 kInverseT{
    {{4.1787185915519047273, 0.32768282076106238708, 0.52337644549944954804},
     {-4.1787185915519047273, -0.32768282076106238708, 0.47662355450055045196},
     {0.50287263494578687595, -2.5719269498556054292, 0.59603920482822492497}}};

/// (8.19): weights of the stages in the error estimate, times γ.
constexpr std::array<double, kStages> kErrors{(-13 - 7 * kRoot6) / 3, (-13 + 7 * kRoot6) / 3,
                                              -1.0 / 3};
/// The same for a quadrature: γ times kErrors A.
constexpr std::array<double, kStages> kQuadratureErrors{-1.5580782047249223824,
                                                        0.89141153805825571577, -1.0 / 3};

/// Corrections below this are rounding, relative to velocities (at least 1); where large forces
/// nearly cancel, below what that makes of the rounding of the state, up to a part of the tolerance.
constexpr double kLeastRounding = 1e-13;
constexpr double kMostRounding = 0.02;
constexpr double kTransformed = 5.0;  // of three stages, by T⁻¹
/// A correction of so many tolerances is not the way to a solution.
constexpr double kBeyond = 1e50;
/// Contraction of Newton's method: above the first the Jacobian is computed again, below the second
/// the iteration converges.
constexpr double kOutdated = 0.05, kContracting = 0.99;
/// Errors of Newton's method do not average out over many steps: they stay below this share of
/// those that the authors of RADAU5 allow.
constexpr double kIterationShare = 0.1;
/// Steps of the difference quotients: rounding and curvature disturb them equally.
const double kDifference = std::sqrt(kEpsilon);

}  // namespace

void Radau::resize(int nq, int nv) {
  n_ = nv;
  const auto clear = [&](auto&... vectors) { (vectors.setZero(nv), ...); };
  for (int i = 0; i < kStages; ++i) {
    clear(y_[i], v_[i], slopes_[i], accelerations_[i], W_[i].y, W_[i].v, F_[i].y, F_[i].v,
          lastY_[i], lastV_[i]);
  }
  clear(scaleV_, complexY_, complexV_, complexWork_, stageV_, realWork_, error_.y, error_.v,
        trial_.y, trial_.v, jacobianV_);
  for (Eigen::MatrixXd* matrix : {&C_, &Aq_, &Av_, &P_, &Q_}) {
    matrix->setZero(nv, nv);
  }
  stageQ_.setZero(nq);
  real_.resize(nv);
  complex_.resize(nv);
  forget();
}

void Radau::forget() {
  known_ = false;
  factoredAt_ = 0.0;
  lastStep_ = 0.0;
}

/// The estimate is of order three, the result of order five: with these tolerances of the estimate,
/// errors of the result are of the size of those that were asked for (Hairer, Wanner, program
/// RADAU5).
void Radau::setScales(const Step& step) {
  const Tolerances& asked = step.tolerances;
  allowed_.relative = 0.1 * std::pow(asked.relative, 2.0 / 3);
  allowed_.absolute = allowed_.relative * (asked.absolute / asked.relative);
  converged_ = kIterationShare * std::min(0.03, std::sqrt(allowed_.relative));
  for (int k = 0; k < n_; ++k) {
    scaleV_[k] = allowed_.ofVelocity(step.start.v[k]);
  }
}

double Radau::sizeOf(const Pair& errors) const {
  const double scaleY = allowed_.ofPosition();
  double sum = 0.0;
  for (int k = 0; k < n_; ++k) {
    const double y = errors.y[k] / scaleY, v = errors.v[k] / scaleV_[k];
    sum += y * y + v * v;
  }
  return std::sqrt(sum / std::max(1, 2 * n_));
}

/// Difference quotients at the start of the step. Analytic derivatives would take their place here.
void Radau::differentiate(ChartMotion& motion, const Step& step) {
  Power power{};
  trial_.y.setZero();
  for (int j = 0; j < n_; ++j) {
    trial_.y[j] = kDifference;
    motion.rates(step.start.time, trial_.y, step.start.v, error_.y, error_.v, power);
    C_.col(j) = (error_.y - step.start.v) / kDifference;
    Aq_.col(j) = (error_.v - step.first.a) / kDifference;
    trial_.y[j] = 0.0;
  }
  stageV_ = step.start.v;
  for (int j = 0; j < n_; ++j) {
    const double difference = kDifference * std::max(1.0, std::abs(step.start.v[j]));
    stageV_[j] = step.start.v[j] + difference;
    motion.rates(step.start.time, trial_.y, stageV_, error_.y, error_.v, power);
    Av_.col(j) = (error_.v - step.first.a) / difference;
    stageV_[j] = step.start.v[j];
  }
  P_ = Av_ + C_;
  Q_ = Av_.lazyProduct(C_) - Aq_;
  ++jacobians_;
  known_ = true;
  outdated_ = false;
  factoredAt_ = 0.0;
  jacobianTime_ = step.start.time;
  jacobianV_ = step.start.v;
}

/// (s − [C 1; Aq Av]) (y; v) = (r; s) is eliminated to
///   M(s) y = s + (s − Av) r,   v = (s − C) y − r,   M(s) = s² − s (Av + C) + Av C − Aq,
/// for s = γ/h and (α − iβ)/h.
bool Radau::factorAt(double h) {
  const double s = kGamma / h;
  const std::complex<double> z(kAlpha / h, -kBeta / h);
  for (int i = 0; i < n_; ++i) {
    for (int j = 0; j < n_; ++j) {
      real_(i, j) = Q_(i, j) - s * P_(i, j);
      complex_(i, j) = Q_(i, j) - z * P_(i, j);
    }
    real_(i, i) += s * s;
    complex_(i, i) += z * z;
  }
  const bool factored = real_.factor() && complex_.factor();
  factoredAt_ = factored ? h : 0.0;
  return factored;
}

/// Replaces the right-hand side (y; v) by the solution for a shift.
template <typename T, typename Vector>
void Radau::solve(const Lu<T>& lu, T shift, Vector& y, Vector& v) {
  // y and v trade places: M y' = v + (s − Av) y, v' = (s − C) y' − y.
  v += shift * y;
  v -= Av_.lazyProduct(y);
  lu.solve(v.data());
  y = shift * v - y;
  y -= C_.lazyProduct(v);
  y.swap(v);
}

/// Starting values of Newton's method: the collocation polynomial of the last step, through zero at
/// its start and z_i at its nodes, continued or, if that step is repeated, shortened. Without one,
/// a linearly implicit step of Euler's method: c h times the rates, less those that decay at once.
void Radau::guess(const Step& step, bool extrapolated) {
  const double h = step.h;
  if (!extrapolated) {
    error_.y = step.start.v;
    error_.v = step.first.a;
    solve(real_, kGamma / h, error_.y, error_.v);
    for (int i = 0; i < kStages; ++i) {
      y_[i] = (kNodes[i] * kGamma) * error_.y;
      v_[i] = (kNodes[i] * kGamma) * error_.v;
    }
    return;
  }
  const bool repeated = step.start.time == lastTime_;
  for (int i = 0; i < kStages; ++i) {
    const double s = (repeated ? 0.0 : 1.0) + kNodes[i] * h / lastStep_;
    y_[i].setZero();
    v_[i].setZero();
    for (int j = 0; j < kStages; ++j) {
      double weight = s / kNodes[j];
      for (int k = 0; k < kStages; ++k) {
        weight *= k == j ? 1.0 : (s - kNodes[k]) / (kNodes[j] - kNodes[k]);
      }
      weight -= !repeated && j == kStages - 1 ? 1.0 : 0.0;  // relative to its end
      y_[i] += weight * lastY_[j];
      v_[i] += weight * lastV_[j];
    }
  }
}

void Radau::stageRates(ChartMotion& motion, const Step& step) {
  for (int i = 0; i < kStages; ++i) {
    stageV_ = step.start.v + v_[i];
    motion.rates(step.start.time + kNodes[i] * step.h, y_[i], stageV_, slopes_[i],
                 accelerations_[i], powers_[i]);
  }
}

/// The rounding of accelerations relative to the tolerances: that of the state times the Jacobian.
double Radau::noise() const {
  double sum = 0.0;
  for (int i = 0; i < n_; ++i) {
    double largest = 0.0;
    for (int j = 0; j < n_; ++j) {
      largest = std::max({largest, std::abs(Aq_(i, j)), std::abs(Av_(i, j) * jacobianV_[j])});
    }
    const double relative = kTransformed * kEpsilon * largest / scaleV_[i];
    sum += relative * relative;
  }
  return std::sqrt(sum / std::max(1, 2 * n_));
}

/// Simplified Newton iterations (8.13) on W = T⁻¹ Z:
///   (Λ/h − J) ΔW = −(Λ/h) W + T⁻¹ F(T W).
/// Stops as in (8.10), and where convergence within kMostIterations is not to be expected.
bool Radau::iterate(ChartMotion& motion, const Step& step) {
  const double h = step.h;
  const std::complex<double> shift(kAlpha / h, -kBeta / h);
  for (int i = 0; i < kStages; ++i) {
    W_[i].y.setZero();
    W_[i].v.setZero();
    for (int j = 0; j < kStages; ++j) {
      W_[i].y += kInverseT[i][j] * y_[j];
      W_[i].v += kInverseT[i][j] * v_[j];
    }
  }
  const double rounding =
      std::clamp(h / kGamma * noise(), kLeastRounding / allowed_.relative, kMostRounding);
  double before = 0.0, theta = 0.0;
  for (iterations_ = 1; iterations_ <= kMostIterations; ++iterations_) {
    ++allIterations_;
    stageRates(motion, step);
    for (int i = 0; i < kStages; ++i) {
      F_[i].y.setZero();
      F_[i].v.setZero();
      for (int j = 0; j < kStages; ++j) {
        F_[i].y += kInverseT[i][j] * slopes_[j];
        F_[i].v += kInverseT[i][j] * accelerations_[j];
      }
    }
    F_[0].y -= (kGamma / h) * W_[0].y;
    F_[0].v -= (kGamma / h) * W_[0].v;
    F_[1].y -= (kAlpha / h) * W_[1].y + (kBeta / h) * W_[2].y;
    F_[1].v -= (kAlpha / h) * W_[1].v + (kBeta / h) * W_[2].v;
    F_[2].y -= (kAlpha / h) * W_[2].y - (kBeta / h) * W_[1].y;
    F_[2].v -= (kAlpha / h) * W_[2].v - (kBeta / h) * W_[1].v;
    solve(real_, kGamma / h, F_[0].y, F_[0].v);
    complexY_.real() = F_[1].y;
    complexY_.imag() = F_[2].y;
    complexV_.real() = F_[1].v;
    complexV_.imag() = F_[2].v;
    solve(complex_, shift, complexY_, complexV_);
    F_[1].y = complexY_.real();
    F_[2].y = complexY_.imag();
    F_[1].v = complexV_.real();
    F_[2].v = complexV_.imag();

    double sum = 0.0;
    for (int i = 0; i < kStages; ++i) {
      const double size = sizeOf(F_[i]);
      sum += size * size;
      W_[i].y += F_[i].y;
      W_[i].v += F_[i].v;
    }
    const double change = std::sqrt(sum / kStages);
    if (!(change < kBeyond)) {
      return false;
    }
    for (int i = 0; i < kStages; ++i) {
      y_[i] = kT[i][0] * W_[0].y + kT[i][1] * W_[1].y + kT[i][2] * W_[2].y;
      v_[i] = kT[i][0] * W_[0].v + kT[i][1] * W_[1].v + kT[i][2] * W_[2].v;
    }
    if (change <= rounding) {
      outdated_ = false;
      return true;
    }
    // The first correction proves nothing: if the Jacobian exaggerates, as where a force jumps
    // within its difference quotient, corrections are small but do not become smaller.
    if (iterations_ > 1) {
      const double ratio = change / before;
      theta = iterations_ <= 3 ? ratio : std::sqrt(ratio * theta);
      const double rest = theta < 1.0 ? theta / (1.0 - theta) * change : change;
      if (theta < kContracting && rest <= converged_) {
        outdated_ = theta > kOutdated;
        return true;
      }
      // Where stiff directions turn, the second correction takes back a part of the first; only
      // those that follow tell whether the iteration converges.
      const bool hopeless =
          iterations_ == 2
              ? !(ratio < 2.0)
              : !(theta < kContracting) ||
                    rest * std::pow(theta, kMostIterations - 1 - iterations_) > converged_;
      if (hopeless) {
        return false;
      }
    }
    before = change;
  }
  return false;
}

/// (8.19), filtered again as in (8.20) where it is too large, because it then exaggerates.
double Radau::errorOf(ChartMotion& motion, const Step& step) {
  const double h = step.h;
  const auto filtered = [&](const auto& slope, const auto& a) {
    error_.y = slope;
    error_.v = a;
    for (int i = 0; i < kStages; ++i) {
      error_.y += (kErrors[i] / h) * y_[i];
      error_.v += (kErrors[i] / h) * v_[i];
    }
    solve(real_, kGamma / h, error_.y, error_.v);
    return sizeOf(error_);
  };
  double error = filtered(step.start.v, step.first.a);
  if (!(error < 1.0) && std::isfinite(error)) {
    Power power{};
    stageV_ = step.start.v + error_.v;
    realWork_ = error_.y;
    motion.rates(step.start.time, realWork_, stageV_, trial_.y, trial_.v, power);
    error = filtered(trial_.y, trial_.v);
  }
  // Work too, as it can change where nothing else does.
  double sum = error * error;
  for (int flow = 0; flow < kFlows; ++flow) {
    double work = step.first.power[flow];
    for (int i = 0; i < kStages; ++i) {
      work += kQuadratureErrors[i] * powers_[i][flow];
    }
    work *= h / kGamma / allowed_.ofWork(step.start.work[flow]);
    sum += work * work / std::max(1, 2 * n_);
  }
  return std::sqrt(sum);
}

double Radau::step(EquationsOfMotion& motion, const Step& step) {
  const auto& [start, first, h, tolerances, end, last] = step;
  if (choice_ != motion.choice()) {
    forget();
    choice_ = motion.choice();
  }
  ChartMotion chart(motion, step, stageQ_);
  const double error = solveStages(chart, step);
  motion.follow(start.q, first.G.data(), y_.back(), end.q);
  end.v = start.v + v_.back();
  for (int flow = 0; flow < kFlows; ++flow) {
    double work = 0.0;
    for (int i = 0; i < kStages; ++i) {
      work += h * kWeights[i] * powers_[i][flow];
    }
    end.work[flow] = start.work[flow] + work;
  }
  if (!(error > 1.0)) {
    motion.evaluate(end.time, end.q, end.v, last);
  }
  return error;
}

/// The variations δz_i of all stages, with (δẏ, δv̇)_j = J_j δz_j + r_j and r_j those of the start:
///   δz_i − h Σ A_ij J_j δz_j = h Σ A_ij r_j.
void Radau::linearize(EquationsOfMotion& motion, const Step& step, EquationDerivatives& derivatives,
                      StepDerivatives& result) {
  const auto& [start, first, h, tolerances, end, last] = step;
  this->step(motion, step);
  result.start();
  StageDerivatives& stage = result.stage;
  const int n = n_, size = 2 * kStages * n;
  matrix_.setIdentity(size, size);
  sides_.setZero(size, 3 * n);
  pivots_.resize(static_cast<std::size_t>(size));
  columns_.resizeLike(result.v);
  for (int j = 0; j < kStages; ++j) {
    stageV_ = start.v + v_[j];
    motion.follow(start.q, first.G.data(), y_[j], stageQ_);
    derivatives.ofRates(
        {start.time + kNodes[j] * h, start.q, first.G.data(), y_[j], stageQ_, stageV_}, last,
        stage);
    if (stage.flat) {
      ofQ_ = ofStart_ = stage.aOfQ;
    } else {
      ofQ_ = stage.aOfQ.lazyProduct(stage.ofChart);
      ofStart_ = stage.aOfQ.lazyProduct(stage.ofStart);
    }
    for (int i = 0; i < kStages; ++i) {
      const double weight = kA[i][j] * h;
      const int row = 2 * n * i, column = 2 * n * j;
      if (stage.flat) {
        matrix_.block(row, column + n, n, n).diagonal().array() -= weight;
        sides_.block(row, n, n, n).diagonal().array() += weight;
      } else {
        matrix_.block(row, column, n, n) -= weight * stage.slopeOfChart;
        matrix_.block(row, column + n, n, n) -= weight * stage.slopeOfV;
        sides_.block(row, 0, n, n) += weight * stage.slopeOfStart;
        sides_.block(row, n, n, n) += weight * stage.slopeOfV;
      }
      matrix_.block(row + n, column, n, n) -= weight * ofQ_;
      matrix_.block(row + n, column + n, n, n) -= weight * stage.aOfV;
      sides_.block(row + n, 0, n, n) += weight * ofStart_;
      sides_.block(row + n, n, n, n) += weight * stage.aOfV;
      sides_.block(row + n, 2 * n, n, n) += weight * stage.aOfTau;
    }
  }
  if (!(luFactor(matrix_.data(), size, pivots_.data()) > 0.0)) {
    throw NoSolution(h);
  }
  luSolve(matrix_.data(), size, pivots_.data(), sides_.data(), 3 * n);
  // The last stage is the end of the step, and the derivatives there were the last.
  columns_ = sides_.middleRows(size - 2 * n, n);
  stage.tangent(result.startTangent, columns_, result.tangent);
  result.v = result.startV + sides_.bottomRows(n);
}

double Radau::solveStages(ChartMotion& motion, const Step& step) {
  const double h = step.h;
  setScales(step);
  const bool fresh = known_ && step.start.time == jacobianTime_ && step.start.v == jacobianV_;
  if (!known_ || (outdated_ && !fresh)) {
    differentiate(motion, step);
  }
  bool extrapolated =
      lastStep_ > 0.0 && (step.start.time == lastTime_ || step.start.time == lastTime_ + lastStep_);
  for (;;) {
    if (factoredAt_ == h || factorAt(h)) {
      guess(step, extrapolated);
      if (iterate(motion, step)) {
        break;
      }
    }
    if (step.start.time != jacobianTime_ || step.start.v != jacobianV_) {
      differentiate(motion, step);
    } else if (extrapolated) {
      extrapolated = false;
    } else {
      lastStep_ = 0.0;
      throw NoSolution(h);
    }
  }
  const double error = errorOf(motion, step);
  lastTime_ = step.start.time;
  lastStep_ = h;
  lastY_ = y_;
  lastV_ = v_;
  return error;
}

/// The mean growth of a vector by powers of the Jacobian; an even number of them, because a swing
/// exchanges positions and velocities, which have different units.
double Radau::spectralRadius() {
  constexpr int kRounds = 16, kSkipped = 4;
  for (int k = 0; k < n_; ++k) {
    trial_.y[k] = 1.0;
    trial_.v[k] = 1.0 / (1.0 + k);
  }
  double logarithm = 0.0;
  for (int round = 0; round < kRounds; ++round) {
    error_.y = trial_.v + C_.lazyProduct(trial_.y);
    error_.v = Aq_.lazyProduct(trial_.y) + Av_.lazyProduct(trial_.v);
    const double size = std::sqrt(error_.y.squaredNorm() + error_.v.squaredNorm());
    if (!(size > 0.0)) {
      return 0.0;
    }
    trial_.y = error_.y / size;
    trial_.v = error_.v / size;
    logarithm += round < kSkipped ? 0.0 : std::log(size);
  }
  return std::exp(logarithm / (kRounds - kSkipped));
}

}  // namespace kempe::detail
