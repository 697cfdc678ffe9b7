#pragma once

#include <vector>

#include "kempe/model.hpp"
#include "model/model_impl.hpp"
#include "simulation/loop_scales.hpp"

/// Choices of independent coordinates, and the charts that they define.
///
/// A configuration q near q0 is described by nv numbers y: the independent DoFs move from q0 by y,
/// and the loops determine the others. For joints with scalar positions ẏ = v. For a spherical or
/// free joint y is the exponential coordinate of its motion, and ẏ the inverse of the exponential's
/// differential times its velocity (Munthe-Kaas 1999).
namespace kempe::detail {

/// Regularity of the loops at a configuration.
enum class Standing {
  Regular,
  DeadPoint,   ///< these coordinates do not determine the others
  ChangePoint  ///< no coordinates do, here or so near that rounding matters: branches meet
};

/// A model with one choice of coordinates. G of all clusters is one array, as in the recursions:
/// the n×m entries of a cluster begin at its firstRatio.
class Coordinates {
 public:
  /// The length of steps where loops turn sharply, relative to the distance from the change point
  /// that they miss. Measured on near-parallelograms, RK4 keeps its energy to 4e-5 (with 0.05: 1e-2).
  static constexpr double kStepAhead = 0.015;
  /// Coordinates are poor where a ratio of velocities is this many times the usual one: dependent
  /// joints then have that many times the errors of independent ones, two bits.
  static constexpr double kExchange = 4.0;

  Coordinates(const Model& model, const LoopScales& scales);

  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] const ModelImpl& impl() const { return model_.impl(); }
  [[nodiscard]] Data& data() { return data_; }
  [[nodiscard]] const std::vector<int>& independent() const { return impl().tables.independent; }
  [[nodiscard]] int ratios() const { return impl().tables.ratios; }

  /// Writes G of the clusters whose ratios are constant.
  void writeConstantRatios(double* G) const;
  /// Writes G of the other clusters at q. Spanning positions are then in positions(). Regular, or
  /// DeadPoint, where G is not usable.
  Standing placeAt(VectorIn q, double* G);
  /// That of one cluster at that position.
  [[nodiscard]] Standing standing(std::size_t cluster) const { return standing_[cluster]; }
  [[nodiscard]] const std::vector<double>& positions() { return data_.impl().positions; }
  /// Per cluster, the distance of K from losing rank at that position, relative to the usual.
  [[nodiscard]] const std::vector<double>& regularity() const { return regularity_; }
  /// The time for which the motion may continue at these velocities before the next check: a
  /// fraction of the way to a point where a loop might lose rank, near which the motion can change
  /// direction sharply.
  [[nodiscard]] double secondsAhead(const std::vector<double>& regularity,
                                    VectorIn velocities) const;
  /// Throws an error that describes the position of the last placeAt, which was not Regular.
  [[noreturn]] void throwSingular();

  /// q̇ = G v.
  void spread(const double* G, VectorIn v, VectorOut velocities) const;
  /// τ = Gᵀ f.
  void gather(const double* G, VectorIn forces, VectorOut tau) const;
  /// The entries of spanning velocities that are independent.
  void pick(VectorIn velocities, VectorOut v) const;
  /// Writes them.
  void place(VectorIn v, VectorOut velocities) const;

  /// q = q0 ⊞ y, with G at q0.
  void follow(VectorIn q0, const double* G, VectorIn y, VectorOut q);
  /// ẏ at q = q0 ⊞ y, from the velocities there.
  void chartRates(VectorIn q0, VectorIn y, VectorIn q, VectorIn v, VectorIn velocities,
                  VectorOut rates) const;
  /// A joint whose positions are no plain numbers, with velocities that are independent.
  struct TurningJoint {
    int body = 0;
    bool whole = false;       ///< all its velocities are independent, y has them side by side
    std::vector<int> inV;     ///< of those that are
    std::vector<int> offset;  ///< which of the joint's velocities they are
  };
  [[nodiscard]] const std::vector<TurningJoint>& turningJoints() const { return turning_; }
  /// The step of such a joint from q0 to q = q0 ⊞ y.
  void turningStep(const TurningJoint& joint, VectorIn q0, VectorIn y, VectorIn q,
                   double* step) const;
  /// The clusters that pass a change point, which the following functions move.
  [[nodiscard]] std::vector<char>& crossing() { return crossing_; }
  /// Moves these clusters along a direction of all joints, which is scaled so that its largest
  /// entry is `distance`; the others stay.
  void moveAcross(VectorIn q, VectorIn direction, double distance, VectorOut result);
  /// Adds `weight` times the displacement of their joints from q to `node`.
  void addDisplacement(VectorIn q, VectorIn node, double weight, VectorOut sum) const;
  /// Moves their joints.
  void displace(VectorIn displacement, VectorOut q);

  /// The largest entry of G relative to the usual size of its row.
  [[nodiscard]] double worstRatio(const double* G) const;
  /// Finds the best choice for this G: exchanges coordinates as long as that increases the
  /// determinant of K_d by more than the factor `gain`. One list per cluster, empty if its choice
  /// does not change. Returns false if none changes.
  bool better(const double* G, double gain, std::vector<std::vector<int>>& independent);

  /// The best choice at q, whatever this one is there. Lists as above; empty at a change point.
  void best(VectorIn q, std::vector<std::vector<int>>& independent);

 private:
  void writeCouplings();
  void listTurningJoints();
  /// Solves the loops at q in the memory of kernels, where forward dynamics finds them.
  void solveLoopsAt(VectorIn q);
  [[nodiscard]] Standing standingOf(const ClusterEntry& cluster, bool regular) const;
  void closeToRounding(const ClusterEntry& cluster);
  /// Calls visit(body, index of its positions in q) for the joints of clusters that are crossing.
  template <typename Visit>
  void forEachCrossingJoint(const Visit& visit) const;

  Model model_;
  const LoopScales& scales_;
  Data data_;
  std::vector<TurningJoint> turning_;
  std::vector<double> elimination_;  // K or G of one cluster
  std::vector<double> tangent_;      // of one cluster
  std::vector<double> polished_;     // positions of one cluster
  std::vector<Standing> standing_;   // per cluster
  std::vector<char> crossing_;       // per cluster
  std::vector<double> regularity_;   // per cluster
  int singular_ = -1;                // the cluster for throwSingular
  std::vector<double> G_, K_;  // of implicit clusters, at the position of the last solveLoopsAt
  std::vector<char> solved_;   // per cluster, likewise: G_ is usable
  bool looped_ = false;        // there are implicit clusters
  int learned_ = 0;            // of scales_, at that time
};

}  // namespace kempe::detail
