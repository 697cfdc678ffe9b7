#include "limits.hpp"

#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "kempe/configuration.hpp"

namespace nb = nanobind;

namespace kempe::python {

namespace {

constexpr double kRounding = 1e-9;  // relative tolerance on limits

struct Violation {
  std::string coordinate;
  double position, lower, upper;
};

std::string shortNumber(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

std::string described(const Violation& violation) {
  return "\"" + violation.coordinate + "\" is at " + shortNumber(violation.position) +
         ", its limits are " + shortNumber(violation.lower) + " and " +
         shortNumber(violation.upper);
}

/// Positions beyond limits, in the order of the joints.
class LimitChecker {
 public:
  explicit LimitChecker(const Model& model)
      : model_(model), limits_(positionLimits(model)), positions_(model.nqSpanning()) {}

  [[nodiscard]] bool hasLimits() const {
    return limits_.first.array().isFinite().any() || limits_.second.array().isFinite().any();
  }

  std::optional<Violation> first(Data& data, VectorIn q) {
    spanningPositions(model_, data, q, positions_);
    const auto& [lower, upper] = limits_;
    for (Eigen::Index i = 0; i < positions_.size(); ++i) {
      const double x = positions_[i];
      if (x < lower[i] - kRounding * (1.0 + std::abs(lower[i])) ||
          x > upper[i] + kRounding * (1.0 + std::abs(upper[i]))) {
        return Violation{model_.spanningPositionNames()[static_cast<std::size_t>(i)], x, lower[i],
                         upper[i]};
      }
    }
    return std::nullopt;
  }

 private:
  const Model& model_;
  std::pair<Eigen::VectorXd, Eigen::VectorXd> limits_;
  Eigen::VectorXd positions_;
};

void warn(const std::string& text) {
  const nb::object category = nb::module_::import_("kempe.errors").attr("LimitsWarning");
  if (PyErr_WarnEx(category.ptr(), text.c_str(), 1) != 0) throw nb::python_error();
}

}  // namespace

std::pair<Eigen::VectorXd, Eigen::VectorXd> positionLimits(const Model& model) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::pair<Eigen::VectorXd, Eigen::VectorXd> limits{
      Eigen::VectorXd::Constant(model.nqSpanning(), -kNone),
      Eigen::VectorXd::Constant(model.nqSpanning(), kNone)};
  const std::unordered_set<std::string_view> moving(model.jointNames().begin(),
                                                    model.jointNames().end());
  for (const Joint& joint : model.mechanism().joints) {
    if (velocitySize(joint.type) == 1 && joint.type != JointType::Continuous &&
        moving.contains(joint.name)) {
      const int index = model.jointPositionIndex(joint.name);
      limits.first[index] = joint.limits.lower;
      limits.second[index] = joint.limits.upper;
    }
  }
  return limits;
}

void warnOfNeutral(const PyModel& self, const Eigen::VectorXd& q) {
  if (self.checkedNeutral) return;
  LimitChecker limits(self.model());
  std::optional<Violation> violation;
  if (limits.hasLimits()) {
    self.compute<double>([&](Data& data) { violation = limits.first(data, q); });
  }
  if (violation) {
    warn(self.model().name() +
         ": the neutral configuration is outside joint limits: " + described(*violation));
  }
  self.checkedNeutral = true;
}

void warnOfRandom(const PyModel& self, std::uint64_t seed, const double* q, Eigen::Index states) {
  if (self.warnedOfRandom) return;
  LimitChecker limits(self.model());
  if (!limits.hasLimits()) {
    self.warnedOfRandom = true;  // no limits: nothing to check
    return;
  }
  const Eigen::Index nq = self.model().nq();
  for (Eigen::Index state = 0; state < states; ++state) {
    std::optional<Violation> violation;
    self.compute<double>([&](Data& data) {
      violation = limits.first(data, Eigen::Map<const Eigen::VectorXd>(q + state * nq, nq));
    });
    if (violation) {
      warn(self.model().name() + ": a random configuration (seed " +
           std::to_string(seed + static_cast<std::uint64_t>(state)) +
           ") is outside joint limits: " + described(*violation) +
           ". Further ones of this model are not reported.");
      self.warnedOfRandom = true;
      return;
    }
  }
}

}  // namespace kempe::python
