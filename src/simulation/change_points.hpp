#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "simulation/coordinate_choices.hpp"
#include "simulation/singular_point.hpp"

/// Where a mechanism passes a position in which K loses rank (docs/maths.md, "Change points").
///
/// At a distance s from it, rounding ε ≈ 3e-16 of closed loops moves positions across the branch by
/// ε / s and changes G by ε / s² and accelerations by v² ε / s³:                                (1)
/// they are smooth functions of s, but cannot be computed there. They are interpolated from
/// positions on the branch on both sides.
namespace kempe::detail {

/// Interpolation with 2n nodes ±h, ±2h … ±nh around the singular point is wrong by
/// (n!)² h²ⁿ f⁽²ⁿ⁾ / (2n)! ≈ (n!)² (h / ρ)²ⁿ, with ρ the distance of f from its nearest pole. With
/// n = 6 and h = 0.04 (radians, or lengths of the cluster) that is 1e-11 for ρ = 1 and 6e-10 for
/// ρ = 0.7; rounding (1) at the nearest node is 5e-12 v². It is used where |s| < h, so that rounding
/// is not larger elsewhere.
constexpr double kSpacing = 0.04;
constexpr int kEachSide = 6;

/// Calls visit(weight, node) for the nodes around a point at the way −`way`, with Lagrange's weights
/// for the value at 0.
template <typename Visit>
void forEachNode(double way, const Visit& visit) {
  std::array<double, 2 * kEachSide> nodes{};
  for (int k = 0; k < kEachSide; ++k) {
    nodes[2 * k] = -way - (k + 1) * kSpacing;
    nodes[2 * k + 1] = -way + (k + 1) * kSpacing;
  }
  for (const double node : nodes) {
    double weight = 1.0;
    for (const double other : nodes) {
      weight *= other == node ? 1.0 : other / (other - node);
    }
    visit(weight, node);
  }
}

/// The change points of embedded loops near a motion. Everything is along its heading: its
/// velocities of all joints, when they were last not zero.
class ChangePoints {
 public:
  ChangePoints(CoordinateChoices& choices, const Eigen::VectorXd& heading)
      : choices_(choices), heading_(heading) {}
  /// Forgets all points, for another model; after that of the choices.
  void start(const Model& user);

  /// Regularity at q; writes G into `G`. Where loops pass a change point near q, the clusters that
  /// do are marked in Coordinates::crossing().
  Standing standAt(VectorIn q, double* G);
  /// Loops that go on as if the change point were not there need no shorter steps: their regularity
  /// is made 1.
  void lookAhead(std::vector<double>& regularity) const;

  /// Calls `visit(weight, q)` at positions on both sides of the change point near q, with weights
  /// that interpolate smooth functions of the way along the heading at q. After standAt(q).
  template <typename Visit>
  void around(VectorIn q, const Visit& visit) {
    visitAround(q, std::cref(visit));
  }
  /// The same with G of these positions in `G`. Throws SingularityError if one is not regular.
  template <typename Visit>
  void placedAround(VectorIn q, double* G, const Visit& visit) {
    around(q, [&](double weight, VectorIn aside) {
      if (choices_.current().placeAt(aside, G) != Standing::Regular) {
        choices_.current().throwSingular();
      }
      visit(weight, aside);
    });
  }
  /// Calls `visit(weight, q)` at q, or around the change point near it, with G of the position in
  /// `G`. Returns whether there was one.
  template <typename Visit>
  bool aroundPosition(VectorIn q, double* G, const Visit& visit) {
    const Standing standing = standAt(q, G);
    if (standing == Standing::Regular) {
      visit(1.0, q);
      return false;
    }
    if (standing != Standing::ChangePoint) {
      choices_.current().throwSingular();
    }
    placedAround(q, G, visit);
    return true;
  }

  /// Whether the clusters that were marked last go straight on through their points.
  [[nodiscard]] bool allGoStraightOn();
  /// Whether loops miss the point that was found last by no more than rounding.
  [[nodiscard]] bool goesStraightOn(std::size_t cluster) const;
  /// The way of a cluster at q from its singular point.
  double wayFrom(std::size_t cluster, VectorIn q);

  /// Clusters that have points.
  [[nodiscard]] const std::vector<std::size_t>& looped() const { return looped_; }
  /// Null for other clusters.
  [[nodiscard]] SingularPoint* pointOf(std::size_t cluster) { return points_[cluster].get(); }
  [[nodiscard]] const SingularPoint* pointOf(std::size_t cluster) const {
    return points_[cluster].get();
  }

  /// While it lives, the point of a cluster stays as it is.
  class Fixed {
   public:
    Fixed(ChangePoints& points, int cluster) : fixed_(points.fixed_) { fixed_ = cluster; }
    ~Fixed() { fixed_ = -1; }
    Fixed(const Fixed&) = delete;
    Fixed& operator=(const Fixed&) = delete;

   private:
    int& fixed_;
  };

 private:
  /// The singular point near the position that was placed last of a cluster, which the heading leads
  /// through. Null if there is none, or if the loops keep clear of it.
  SingularPoint* passageOf(std::size_t cluster);
  void visitAround(VectorIn q, const std::function<void(double, VectorIn)>& visit);

  CoordinateChoices& choices_;
  const Eigen::VectorXd& heading_;
  std::vector<std::unique_ptr<SingularPoint>> points_;  // per cluster, null without loops
  std::vector<std::size_t> looped_;
  std::vector<char> straightOn_;  // per cluster, at the last standAt()
  int fixed_ = -1;                // the cluster whose point stays as it is
  Eigen::VectorXd aside_;
};

/// Loops that miss a change point by a relative length x turn within √x of it. Below this x the
/// turn counts as a corner, which shifts positions by up to 2 kBefore vertex widths (turns.cpp).
/// Above it, it is followed with short steps: accelerations are wrong by v² ε / √x³ (1) for a time of
/// √x / v, and velocities by a part ε / x of them per step, altogether 1e-5.
constexpr double kMiss = 3e-10;

}  // namespace kempe::detail
