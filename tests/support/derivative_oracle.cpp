#include "support/derivative_oracle.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "kempe/configuration.hpp"
#include "support/decompositions.hpp"
#include "support/loop_rows.hpp"
#include "support/perturbed.hpp"

namespace kempe::test {
namespace {

// --- vectors and matrices of numbers that carry derivatives ------------------------------------

template <typename S>
Triple<S> operator+(const Triple<S>& a, const Triple<S>& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
template <typename S>
Triple<S> operator-(const Triple<S>& a, const Triple<S>& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
template <typename S>
Triple<S> operator*(const S& x, const Triple<S>& a) {
  return {x * a[0], x * a[1], x * a[2]};
}
template <typename S>
Triple<S> crossOf(const Triple<S>& a, const Triple<S>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

template <typename S>
using Square = std::array<Triple<S>, 3>;  // rows

/// A Bᵀ
template <typename S>
Square<S> timesTransposed(const Square<S>& A, const Square<S>& B) {
  Square<S> C;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      C[i][j] = dotOf(A[i], B[j]);
    }
  }
  return C;
}
/// x of the skew part x× of a matrix.
template <typename S>
Triple<S> axialOf(const Square<S>& m) {
  const S half(0.5);
  return {half * (m[2][1] - m[1][2]), half * (m[0][2] - m[2][0]), half * (m[1][0] - m[0][1])};
}
/// One coefficient of all entries: `part` is a member of T.
template <typename T, typename S>
Triple<S> partOf(const Triple<T>& x, S T::*part) {
  return {x[0].*part, x[1].*part, x[2].*part};
}
template <typename T, typename S>
Square<S> partOf(const Square<T>& m, S T::*part) {
  return {partOf(m[0], part), partOf(m[1], part), partOf(m[2], part)};
}

/// A matrix by the matrices of its coefficients.
template <typename S>
struct Dense;
template <>
struct Dense<double> {
  Dense(Eigen::Index rows, Eigen::Index columns) : m(Eigen::MatrixXd::Zero(rows, columns)) {}
  explicit Dense(Eigen::MatrixXd matrix) : m(std::move(matrix)) {}
  [[nodiscard]] double at(Eigen::Index i, Eigen::Index j) const { return m(i, j); }
  void set(Eigen::Index i, Eigen::Index j, double x) { m(i, j) = x; }
  [[nodiscard]] Dense columns(const std::vector<int>& some) const {
    return Dense(Eigen::MatrixXd(m(Eigen::all, some)));
  }
  Eigen::MatrixXd m;
};
template <typename S>
struct Dense<Perturbed<S>> {
  Dense(Eigen::Index rows, Eigen::Index columns) : value(rows, columns), slope(rows, columns) {}
  Dense(Dense<S> x, Dense<S> along) : value(std::move(x)), slope(std::move(along)) {}
  [[nodiscard]] Perturbed<S> at(Eigen::Index i, Eigen::Index j) const {
    return {value.at(i, j), slope.at(i, j)};
  }
  void set(Eigen::Index i, Eigen::Index j, const Perturbed<S>& x) {
    value.set(i, j, x.value);
    slope.set(i, j, x.slope);
  }
  [[nodiscard]] Dense columns(const std::vector<int>& some) const {
    return {value.columns(some), slope.columns(some)};
  }
  Dense<S> value, slope;
};

Dense<double> product(const Dense<double>& A, const Dense<double>& B) {
  return Dense<double>(Eigen::MatrixXd(A.m * B.m));
}
Dense<double> sum(const Dense<double>& A, const Dense<double>& B, double sign = 1.0) {
  return Dense<double>(Eigen::MatrixXd(A.m + sign * B.m));
}
template <typename S>
Dense<Perturbed<S>> sum(const Dense<Perturbed<S>>& A, const Dense<Perturbed<S>>& B,
                        double sign = 1.0) {
  return {sum(A.value, B.value, sign), sum(A.slope, B.slope, sign)};
}
template <typename S>
Dense<Perturbed<S>> product(const Dense<Perturbed<S>>& A, const Dense<Perturbed<S>>& B) {
  return {product(A.value, B.value), sum(product(A.slope, B.value), product(A.value, B.slope))};
}

/// X of A X = B, which has one solution, with P = A⁺ of the numbers without derivatives: A X = B and
/// A X′ = B′ − A′ X.
Dense<double> solved(const Eigen::MatrixXd& P, const Dense<double>& A, const Dense<double>& B) {
  Eigen::MatrixXd X = P * B.m;
  X += P * (B.m - A.m * X);  // the pseudo-inverse is as inaccurate as A is ill-conditioned
  return Dense<double>(std::move(X));
}
template <typename S>
Dense<Perturbed<S>> solved(const Eigen::MatrixXd& P, const Dense<Perturbed<S>>& A,
                           const Dense<Perturbed<S>>& B) {
  Dense<S> X = solved(P, A.value, B.value);
  Dense<S> along = solved(P, A.value, sum(B.slope, product(A.slope, X), -1.0));
  return {std::move(X), std::move(along)};
}

// --- joints --------------------------------------------------------------------------------------

/// Rates of a joint's coordinates at velocities v. Balls turn at ω in their own axes: with o = (ω/2, 0),
/// the quaternion p changes by p ⊗ o. Free joints move at R v.
template <typename S>
std::array<S, 7> coordinateRates(JointType type, const S* q, const S* v) {
  std::array<S, 7> rates{};
  if (hasScalarCoordinates(type)) {
    std::copy_n(v, positionSize(type), rates.begin());
    return rates;
  }
  const bool free = type == JointType::Free;
  const std::size_t first = free ? 3 : 0;
  const S* p = q + first;
  const S half(0.5), x = half * v[first], y = half * v[first + 1], z = half * v[first + 2];
  rates[first] = p[3] * x + p[1] * z - p[2] * y;
  rates[first + 1] = p[3] * y + p[2] * x - p[0] * z;
  rates[first + 2] = p[3] * z + p[0] * y - p[1] * x;
  rates[first + 3] = -(p[0] * x + p[1] * y + p[2] * z);
  if (free) {
    const Triple<S> shift = turnOfQuaternion(p).rotate({v[0], v[1], v[2]});
    std::copy(shift.begin(), shift.end(), rates.begin());
  }
  return rates;
}

/// Coordinates along a path with velocities v and accelerations a. With T of q̇ = T(q) v,
/// q̈ = T v̇ + Ṫ v, where Ṫ v is p ⊗ o ⊗ o = −|ω|²/4 p of a quaternion and R (ω × v) of a free joint's
/// position. As this holds at all q, it does where q itself carries a derivative.
template <typename S>
std::array<PathJet<S>, 7> pathOf(JointType type, const S* q, const S* v, const S* a) {
  const std::array<S, 7> first = coordinateRates(type, q, v), second = coordinateRates(type, q, a);
  std::array<PathJet<S>, 7> path;
  for (std::size_t i = 0; i < static_cast<std::size_t>(positionSize(type)); ++i) {
    path[i] = {q[i], first[i], second[i]};
  }
  if (!hasScalarCoordinates(type)) {
    const std::size_t turn = type == JointType::Free ? 3 : 0;
    const Triple<S> w{v[turn], v[turn + 1], v[turn + 2]};
    const S curvature = S(-0.25) * dotOf(w, w);
    for (std::size_t i = turn; i < turn + 4; ++i) {
      path[i].second = path[i].second + curvature * q[i];
    }
    if (turn > 0) {
      const Triple<S> bend = turnOfQuaternion(q + 3).rotate(crossOf(w, {v[0], v[1], v[2]}));
      for (std::size_t i = 0; i < 3; ++i) {
        path[i].second = path[i].second + bend[i];
      }
    }
  }
  return path;
}

double valueOf(double x) {
  return x;
}
template <typename S>
double valueOf(const Perturbed<S>& x) {
  return valueOf(x.value);
}

/// A function's rows; the oracle knows the operations that robots of the tests use.
template <typename T>
std::vector<T> rowsOf(const Expression& expression, const std::vector<T>& x) {
  using std::cos, std::sin, std::sqrt;
  std::vector<T> values;
  for (const Expression::Step& step : expression.steps()) {
    const auto operand = [&](int i) -> const T& {
      return values[static_cast<std::size_t>(step.operands[i])];
    };
    const auto next = [&]() -> T {
      switch (step.operation) {
        case Operation::Argument:
          return x[static_cast<std::size_t>(step.operands[0])];
        case Operation::Constant:
          return T(step.constant);
        case Operation::Add:
          return operand(0) + operand(1);
        case Operation::Subtract:
          return operand(0) - operand(1);
        case Operation::Multiply:
          return operand(0) * operand(1);
        case Operation::Divide:
          return operand(0) / operand(1);
        case Operation::Negate:
          return -operand(0);
        case Operation::Sin:
          return sin(operand(0));
        case Operation::Cos:
          return cos(operand(0));
        case Operation::Sqrt:
          return sqrt(operand(0));
        default:
          throw std::logic_error("an operation that the oracle does not know");
      }
    };
    values.push_back(next());
  }
  std::vector<T> results;
  for (int i = 0; i < expression.results(); ++i) {
    results.push_back(values[static_cast<std::size_t>(expression.stepOf(i))]);
  }
  return results;
}

/// A body and the joint above it.
struct Link {
  const Joint* joint = nullptr;
  const Body* body = nullptr;
  int parent = -1;  ///< an index, or kWorldLink
  int position = 0, velocity = 0;
};

constexpr int kWorldLink = -1;

/// Frames of all bodies, and the velocity that each spanning velocity gives to the bodies above its
/// joint: `spin`, and `shift` at the world's origin.
template <typename S>
struct Placed {
  std::vector<Frame<S>> frames;
  std::vector<Triple<S>> spin, shift;
};

}  // namespace

class DerivativeOracle::Implementation {
 public:
  explicit Implementation(const Model& model);
  void set(const Eigen::VectorXd& configuration, const Eigen::VectorXd& velocity,
           const Eigen::VectorXd& acceleration, std::span<const FrameForce> external);

  template <typename S>
  [[nodiscard]] std::vector<S> inverseDynamics(const std::vector<S>& q, const std::vector<S>& v,
                                               const std::vector<S>& a) const;
  /// G of q̇ = G v.
  template <typename S>
  [[nodiscard]] Dense<S> ratios(const Dense<S>& K) const;
  /// K, each row divided by its length.
  template <typename S>
  [[nodiscard]] Dense<S> closingRows(const std::vector<S>& q, const Placed<S>& placed) const;
  template <typename S>
  [[nodiscard]] Placed<S> placed(const std::vector<S>& q) const;
  /// Spanning positions as they move along the independent velocities `along`.
  template <typename S>
  [[nodiscard]] std::vector<Perturbed<S>> moved(const std::vector<S>& q, const Dense<S>& G,
                                                const Eigen::VectorXd& along) const;

  const Model model;
  std::vector<double> q, v, a;  ///< spanning positions, independent velocities and accelerations
  Dense<double> G{0, 0};

 private:
  /// A coupling, loop joint, rod or function.
  struct Closing {
    const Coupling* coupling = nullptr;
    const LoopJoint* joint = nullptr;
    const Rod* rod = nullptr;
    const Function* function = nullptr;
    Expression expression{};
    std::vector<int> velocities{};  ///< spanning velocities that move it
  };

  [[nodiscard]] int linkOf(const std::string& body) const {
    const auto found = links_.find(body);
    return found == links_.end() ? kWorldLink : found->second;
  }
  template <typename T>
  static Frame<T> frameOf(const std::vector<Frame<T>>& frames, int link) {
    return link == kWorldLink ? Frame<T>::identity() : frames[static_cast<std::size_t>(link)];
  }
  [[nodiscard]] const Link& linkWith(const Coordinate& coordinate) const {
    return tree_[static_cast<std::size_t>(jointLinks_.at(coordinate.joint))];
  }
  /// Whether a spanning velocity moves a body.
  [[nodiscard]] bool moves(int velocity, int link) const {
    return link != kWorldLink &&
           moving_[static_cast<std::size_t>(link)][static_cast<std::size_t>(velocity)];
  }
  /// φ, from frames of bodies and coordinates.
  template <typename T, typename FrameAt, typename CoordinateAt>
  [[nodiscard]] std::vector<T> rowsOfClosing(const Closing& closing, const FrameAt& frameAt,
                                             const CoordinateAt& coordinateAt) const;
  template <typename S>
  [[nodiscard]] std::vector<Frame<PathJet<S>>> framesAlong(
      const std::vector<S>& q, const std::vector<S>& rates,
      const std::vector<S>& accelerations) const;
  /// k of K q̈ = k, with the same lengths.
  template <typename S>
  [[nodiscard]] Dense<S> closingBias(const std::vector<S>& q, const std::vector<S>& rates) const;
  template <typename S>
  [[nodiscard]] std::vector<S> spanningForces(const std::vector<S>& q, const Placed<S>& placed,
                                              const std::vector<S>& rates,
                                              const std::vector<S>& accelerations) const;

  std::vector<Link> tree_;  ///< parents first
  std::map<std::string, int> links_, jointLinks_;
  std::vector<std::vector<bool>> moving_;  ///< by link and spanning velocity
  std::vector<Closing> closings_;
  std::vector<int> independent_, dependent_;       ///< spanning velocities
  Eigen::VectorXd scale_;                          ///< of rows
  Eigen::MatrixXd inverse_;                        ///< (K of the dependent velocities)⁺
  std::vector<std::vector<FrameForce>> external_;  ///< by link
};

DerivativeOracle::Implementation::Implementation(const Model& of) : model(of) {
  const Mechanism& mechanism = model.mechanism();
  if (!model.cutLoops().empty()) {
    throw std::logic_error("the oracle embeds all loops");
  }
  const std::size_t n = static_cast<std::size_t>(model.nvSpanning());
  while (tree_.size() < mechanism.joints.size()) {
    for (const Joint& joint : mechanism.joints) {
      const bool parentKnown =
          mechanism.jointAbove(joint.parent) == nullptr || links_.contains(joint.parent);
      if (!parentKnown || links_.contains(joint.child)) {
        continue;
      }
      const int index = static_cast<int>(tree_.size());
      const bool fixed = joint.type == JointType::Fixed;
      const Link link{&joint, mechanism.findBody(joint.child), linkOf(joint.parent),
                      fixed ? 0 : model.jointPositionIndex(joint.name),
                      fixed ? 0 : model.jointVelocityIndex(joint.name)};
      moving_.push_back(link.parent == kWorldLink ? std::vector<bool>(n)
                                                  : moving_[static_cast<std::size_t>(link.parent)]);
      for (int i = 0; i < velocitySize(joint.type); ++i) {
        moving_.back()[static_cast<std::size_t>(link.velocity + i)] = true;
      }
      tree_.push_back(link);
      links_[joint.child] = jointLinks_[joint.name] = index;
    }
  }
  const auto addCoordinates = [&](Closing& closing, const auto& coordinates) {
    for (const auto& coordinate : coordinates) {
      const Coordinate* c = nullptr;
      if constexpr (requires { coordinate.coordinate; }) {
        c = &coordinate.coordinate;
      } else {
        c = &coordinate;
      }
      closing.velocities.push_back(linkWith(*c).velocity + c->component);
    }
  };
  const auto addBodies = [&](Closing& closing, const std::string& first,
                             const std::string& second) {
    for (int d = 0; d < static_cast<int>(n); ++d) {
      if (moves(d, linkOf(first)) != moves(d, linkOf(second))) {  // not both as one
        closing.velocities.push_back(d);
      }
    }
  };
  for (const Coupling& coupling : mechanism.couplings) {
    addCoordinates(closings_.emplace_back(Closing{.coupling = &coupling}), coupling.terms);
  }
  for (const LoopJoint& joint : mechanism.loops) {
    addBodies(closings_.emplace_back(Closing{.joint = &joint}), joint.predecessor.body,
              joint.successor.body);
  }
  for (const Rod& rod : mechanism.rods) {
    addBodies(closings_.emplace_back(Closing{.rod = &rod}), rod.predecessor.body,
              rod.successor.body);
  }
  for (const Function& function : mechanism.functions) {
    addCoordinates(
        closings_.emplace_back(Closing{.function = &function, .expression = function.traced()}),
        function.coordinates);
  }
  const auto& names = model.spanningVelocityNames();
  for (const std::string& name : model.vNames()) {
    independent_.push_back(static_cast<int>(std::ranges::find(names, name) - names.begin()));
  }
  for (int d = 0; d < static_cast<int>(n); ++d) {
    if (std::ranges::find(independent_, d) == independent_.end()) {
      dependent_.push_back(d);
    }
  }
}

template <typename S>
Placed<S> DerivativeOracle::Implementation::placed(const std::vector<S>& position) const {
  Placed<S> result;
  result.spin.resize(static_cast<std::size_t>(model.nvSpanning()));
  result.shift = result.spin;
  for (const Link& link : tree_) {
    const JointType type = link.joint->type;
    const S* at = position.data() + link.position;
    const Frame<S> base = frameOf(result.frames, link.parent) * Frame<S>::from(link.joint->origin);
    const Frame<S> frame = base * jointFrame(*link.joint, at);
    for (int i = 0; i < velocitySize(type); ++i) {
      std::array<S, 6> unit{};
      unit[static_cast<std::size_t>(i)] = S(1.0);
      const std::array<S, 7> rates = coordinateRates(type, at, unit.data());
      std::array<Perturbed<S>, 7> moving;
      for (std::size_t c = 0; c < static_cast<std::size_t>(positionSize(type)); ++c) {
        moving[c] = {at[c], rates[c]};
      }
      using P = Perturbed<S>;
      const Frame<P> own = jointFrame(*link.joint, moving.data());
      // ω× = R′ Rᵀ, in the axes of the joint's frame
      const Triple<S> spin =
          base.rotate(axialOf(timesTransposed(partOf(own.R, &P::slope), partOf(own.R, &P::value))));
      const auto d = static_cast<std::size_t>(link.velocity + i);
      result.spin[d] = spin;
      result.shift[d] = base.rotate(partOf(own.p, &P::slope)) - crossOf(spin, frame.p);
    }
    result.frames.push_back(frame);
  }
  return result;
}

template <typename S>
std::vector<Frame<PathJet<S>>> DerivativeOracle::Implementation::framesAlong(
    const std::vector<S>& position, const std::vector<S>& rates,
    const std::vector<S>& accelerations) const {
  using P = PathJet<S>;
  std::vector<Frame<P>> frames;
  for (const Link& link : tree_) {
    Frame<P> frame = frameOf(frames, link.parent) * Frame<P>::from(link.joint->origin);
    if (link.joint->type != JointType::Fixed) {
      const auto path = pathOf(link.joint->type, position.data() + link.position,
                               rates.data() + link.velocity, accelerations.data() + link.velocity);
      frame = frame * jointFrame(*link.joint, path.data());
    }
    frames.push_back(frame);
  }
  return frames;
}

template <typename T, typename FrameAt, typename CoordinateAt>
std::vector<T> DerivativeOracle::Implementation::rowsOfClosing(
    const Closing& closing, const FrameAt& frameAt, const CoordinateAt& coordinateAt) const {
  if (closing.coupling != nullptr) {
    T sum(-closing.coupling->offset);
    for (const Coupling::Term& term : closing.coupling->terms) {
      sum = sum + T(term.coefficient) * coordinateAt(term.coordinate);
    }
    return {sum};
  }
  if (closing.joint != nullptr) {
    const auto end = [&](const LoopJoint::End& of) {
      return frameAt(linkOf(of.body)) * Frame<T>::from(of.frame);
    };
    return loopRows(*closing.joint,
                    end(closing.joint->predecessor).inverse() * end(closing.joint->successor));
  }
  if (closing.rod != nullptr) {
    const auto end = [&](const Rod::End& of) {
      return frameAt(linkOf(of.body)).point(tripleOf<T>(of.point));
    };
    const Triple<T> way = end(closing.rod->successor) - end(closing.rod->predecessor);
    return {dotOf(way, way) - T(closing.rod->length * closing.rod->length)};
  }
  std::vector<T> arguments;
  for (const Coordinate& coordinate : closing.function->coordinates) {
    arguments.push_back(coordinateAt(coordinate));
  }
  return rowsOf(closing.expression, arguments);
}

template <typename S>
Dense<S> DerivativeOracle::Implementation::closingRows(const std::vector<S>& position,
                                                       const Placed<S>& at) const {
  using P = Perturbed<S>;
  Dense<S> K(scale_.size(), model.nvSpanning());
  Eigen::Index firstRow = 0;
  for (const Closing& closing : closings_) {
    std::size_t rows = 0;
    for (const int d : closing.velocities) {
      const auto column = static_cast<std::size_t>(d);
      const auto frameAt = [&](int link) {
        const Frame<S> still = frameOf(at.frames, link);
        const bool moving = moves(d, link);
        Frame<P> frame;
        for (std::size_t j = 0; j < 3; ++j) {
          const Triple<S> axis{still.R[0][j], still.R[1][j], still.R[2][j]};
          const Triple<S> turn = moving ? crossOf(at.spin[column], axis) : Triple<S>{};
          for (std::size_t i = 0; i < 3; ++i) {
            frame.R[i][j] = {axis[i], turn[i]};
          }
        }
        const Triple<S> shift =
            moving ? at.shift[column] + crossOf(at.spin[column], still.p) : Triple<S>{};
        for (std::size_t i = 0; i < 3; ++i) {
          frame.p[i] = {still.p[i], shift[i]};
        }
        return frame;
      };
      const auto coordinateAt = [&](const Coordinate& coordinate) {
        const Link& link = linkWith(coordinate);
        return P(position[static_cast<std::size_t>(link.position + coordinate.component)],
                 S(link.velocity + coordinate.component == d ? 1.0 : 0.0));
      };
      const std::vector<P> phi = rowsOfClosing<P>(closing, frameAt, coordinateAt);
      rows = phi.size();
      for (std::size_t r = 0; r < rows; ++r) {
        const auto row = firstRow + static_cast<Eigen::Index>(r);
        K.set(row, d, S(scale_[row]) * phi[r].slope);
      }
    }
    firstRow += static_cast<Eigen::Index>(rows);
  }
  return K;
}

template <typename S>
Dense<S> DerivativeOracle::Implementation::closingBias(const std::vector<S>& position,
                                                       const std::vector<S>& rates) const {
  using P = PathJet<S>;
  const std::vector<S> still(rates.size());
  const std::vector<Frame<P>> frames = framesAlong(position, rates, still);
  Dense<S> k(scale_.size(), 1);
  Eigen::Index row = 0;
  for (const Closing& closing : closings_) {
    const std::vector<P> phi = rowsOfClosing<P>(
        closing, [&](int link) { return frameOf(frames, link); },
        [&](const Coordinate& coordinate) {
          const Link& link = linkWith(coordinate);
          return P(position[static_cast<std::size_t>(link.position + coordinate.component)],
                   rates[static_cast<std::size_t>(link.velocity + coordinate.component)], S(0.0));
        });
    for (const P& one : phi) {
      k.set(row, 0, -(S(scale_[row]) * one.second));
      ++row;
    }
  }
  return k;
}

template <typename S>
Dense<S> DerivativeOracle::Implementation::ratios(const Dense<S>& K) const {
  Dense<S> result(model.nvSpanning(), model.nv());
  for (int j = 0; j < model.nv(); ++j) {
    result.set(independent_[static_cast<std::size_t>(j)], j, S(1.0));
  }
  if (dependent_.empty()) {
    return result;
  }
  const Dense<S> own = K.columns(independent_);
  const Dense<S> ofDependent = solved(inverse_, K.columns(dependent_), own);
  for (std::size_t i = 0; i < dependent_.size(); ++i) {
    for (int j = 0; j < model.nv(); ++j) {
      result.set(dependent_[i], j, -ofDependent.at(static_cast<Eigen::Index>(i), j));
    }
  }
  return result;
}

template <typename S>
std::vector<S> DerivativeOracle::Implementation::spanningForces(
    const std::vector<S>& position, const Placed<S>& at, const std::vector<S>& rates,
    const std::vector<S>& accelerations) const {
  using P = PathJet<S>;
  using std::tanh;
  const Triple<S> gravity = tripleOf<S>(model.mechanism().gravity);
  const std::vector<Frame<P>> frames = framesAlong(position, rates, accelerations);
  std::vector<Triple<S>> forces(tree_.size()), moments = forces;  // about the world's origin
  for (std::size_t l = tree_.size(); l-- > 0;) {
    const Link& link = tree_[l];
    const Body& body = *link.body;
    const Square<S> R = partOf(frames[l].R, &P::value), Rd = partOf(frames[l].R, &P::first),
                    Rdd = partOf(frames[l].R, &P::second);
    const Triple<P> center = frames[l].point(tripleOf<P>(body.centerOfMass));
    const Triple<S> p = partOf(center, &P::value);
    const Triple<S> force = S(body.mass) * (partOf(center, &P::second) - gravity);
    // ω× = Ṙ Rᵀ, and its derivative R̈ Rᵀ + Ṙ Ṙᵀ, of which the second term is symmetric
    const Triple<S> w = axialOf(timesTransposed(Rd, R)), alpha = axialOf(timesTransposed(Rdd, R));
    const SymMat3<double>& I = body.inertia;
    const auto inertiaTimes = [&](const Triple<S>& x) {
      const Triple<S> own = at.frames[l].inverse().rotate(x);
      return at.frames[l].rotate({S(I.xx) * own[0] + S(I.xy) * own[1] + S(I.xz) * own[2],
                                  S(I.xy) * own[0] + S(I.yy) * own[1] + S(I.yz) * own[2],
                                  S(I.xz) * own[0] + S(I.yz) * own[1] + S(I.zz) * own[2]});
    };
    forces[l] = forces[l] + force;
    moments[l] = moments[l] + inertiaTimes(alpha) + crossOf(w, inertiaTimes(w)) + crossOf(p, force);
    for (const FrameForce& external : external_[l]) {
      const auto& x = external.wrench;
      Triple<S> f{S(x[0]), S(x[1]), S(x[2])}, m{S(x[3]), S(x[4]), S(x[5])};
      if (external.reference == Reference::Local) {
        f = at.frames[l].rotate(f);
        m = at.frames[l].rotate(m);
      }
      if (external.reference != Reference::World) {
        m = m + crossOf(at.frames[l].p, f);
      }
      forces[l] = forces[l] - f;
      moments[l] = moments[l] - m;
    }
    if (link.parent != kWorldLink) {
      const auto parent = static_cast<std::size_t>(link.parent);
      forces[parent] = forces[parent] + forces[l];
      moments[parent] = moments[parent] + moments[l];
    }
  }
  std::vector<S> result(rates.size());
  for (std::size_t l = 0; l < tree_.size(); ++l) {
    const Link& link = tree_[l];
    const Joint& joint = *link.joint;
    for (int i = 0; i < velocitySize(joint.type); ++i) {
      const auto d = static_cast<std::size_t>(link.velocity + i);
      S tau = dotOf(at.spin[d], moments[l]) + dotOf(at.shift[d], forces[l]);
      tau = tau + S(joint.armature) * accelerations[d] + S(joint.damping) * rates[d];
      if (const double slip = model.mechanism().frictionSlipSpeed; slip > 0.0) {
        tau = tau + S(joint.friction) * tanh(rates[d] / S(slip));
      } else {
        const double rate = valueOf(rates[d]);
        tau = tau + S(joint.friction * (rate > 0 ? 1.0 : (rate < 0 ? -1.0 : 0.0)));
      }
      if (joint.stiffness != 0.0) {
        tau = tau + S(joint.stiffness) * (position[static_cast<std::size_t>(link.position)] -
                                          S(joint.springReference));
      }
      result[d] = tau;
    }
  }
  return result;
}

template <typename S>
std::vector<S> DerivativeOracle::Implementation::inverseDynamics(
    const std::vector<S>& position, const std::vector<S>& velocity,
    const std::vector<S>& acceleration) const {
  const Placed<S> at = placed(position);
  const Dense<S> K = closingRows(position, at), ratio = ratios(K);
  const auto times = [&](const std::vector<S>& x) {
    std::vector<S> y(static_cast<std::size_t>(model.nvSpanning()));
    for (std::size_t i = 0; i < y.size(); ++i) {
      for (std::size_t j = 0; j < x.size(); ++j) {
        y[i] = y[i] + ratio.at(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) * x[j];
      }
    }
    return y;
  };
  const std::vector<S> rates = times(velocity);
  std::vector<S> accelerations = times(acceleration);
  if (!dependent_.empty()) {
    const Dense<S> g = solved(inverse_, K.columns(dependent_), closingBias(position, rates));
    for (std::size_t i = 0; i < dependent_.size(); ++i) {
      S& one = accelerations[static_cast<std::size_t>(dependent_[i])];
      one = one + g.at(static_cast<Eigen::Index>(i), 0);
    }
  }
  const std::vector<S> forces = spanningForces(position, at, rates, accelerations);
  std::vector<S> tau(velocity.size());
  for (std::size_t j = 0; j < tau.size(); ++j) {
    for (std::size_t i = 0; i < forces.size(); ++i) {
      tau[j] =
          tau[j] + ratio.at(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) * forces[i];
    }
  }
  return tau;
}

template <typename S>
std::vector<Perturbed<S>> DerivativeOracle::Implementation::moved(
    const std::vector<S>& position, const Dense<S>& ratio, const Eigen::VectorXd& along) const {
  std::vector<S> rates(static_cast<std::size_t>(model.nvSpanning()));
  for (std::size_t i = 0; i < rates.size(); ++i) {
    for (Eigen::Index j = 0; j < along.size(); ++j) {
      rates[i] = rates[i] + S(along[j]) * ratio.at(static_cast<Eigen::Index>(i), j);
    }
  }
  std::vector<Perturbed<S>> result(position.size());
  for (const Link& link : tree_) {
    const JointType type = link.joint->type;
    if (type == JointType::Fixed) {
      continue;
    }
    const auto first = static_cast<std::size_t>(link.position);
    const std::array<S, 7> slopes =
        coordinateRates(type, position.data() + first, rates.data() + link.velocity);
    for (std::size_t i = 0; i < static_cast<std::size_t>(positionSize(type)); ++i) {
      result[first + i] = {position[first + i], slopes[i]};
    }
  }
  return result;
}

void DerivativeOracle::Implementation::set(const Eigen::VectorXd& configuration,
                                           const Eigen::VectorXd& velocity,
                                           const Eigen::VectorXd& acceleration,
                                           std::span<const FrameForce> external) {
  Data data(model);
  Eigen::VectorXd positions(model.nqSpanning());
  spanningPositions(model, data, configuration, positions);
  q.assign(positions.begin(), positions.end());
  v.assign(velocity.begin(), velocity.end());
  a.assign(acceleration.begin(), acceleration.end());
  external_.assign(tree_.size(), {});
  for (const FrameForce& force : external) {
    const int link = linkOf(model.frameNames()[static_cast<std::size_t>(force.frame)]);
    if (link != kWorldLink) {
      external_[static_cast<std::size_t>(link)].push_back(force);
    }
  }
  const Placed<double> at = placed(q);
  Eigen::Index rows = 0;
  for (const Closing& closing : closings_) {
    rows +=
        static_cast<Eigen::Index>(rowsOfClosing<double>(
                                      closing, [&](int link) { return frameOf(at.frames, link); },
                                      [&](const Coordinate& coordinate) {
                                        return q[static_cast<std::size_t>(
                                            linkWith(coordinate).position + coordinate.component)];
                                      })
                                      .size());
  }
  scale_ = Eigen::VectorXd::Ones(rows);
  const Eigen::VectorXd lengths = closingRows(q, at).m.rowwise().norm();
  scale_ = (lengths.array() > 1e-9).select(lengths.cwiseInverse(), 1.0);  // 0 of flat mechanisms
  const Dense<double> K = closingRows(q, at);
  if (!dependent_.empty()) {
    const Eigen::MatrixXd own = K.columns(dependent_).m;
    const auto [inverse, rank] = leastNorm(own, Eigen::MatrixXd::Identity(rows, rows), 1e-9);
    if (rank < own.cols()) {
      throw std::logic_error("singular");
    }
    inverse_ = inverse;
  }
  G = ratios(K);
}

DerivativeOracle::DerivativeOracle(const Model& model)
    : implementation_(std::make_unique<Implementation>(model)) {}
DerivativeOracle::~DerivativeOracle() = default;

void DerivativeOracle::set(const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                           const Eigen::VectorXd& a, std::span<const FrameForce> external) {
  implementation_->set(q, v, a, external);
}

namespace {

template <typename S>
std::vector<Perturbed<S>> varied(const std::vector<S>& x, const Eigen::VectorXd& along) {
  std::vector<Perturbed<S>> result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    result.emplace_back(x[i], S(along[static_cast<Eigen::Index>(i)]));
  }
  return result;
}

template <typename S, typename Part>
Eigen::VectorXd parts(const std::vector<S>& x, const Part& part) {
  Eigen::VectorXd result(static_cast<Eigen::Index>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    result[static_cast<Eigen::Index>(i)] = part(x[i]);
  }
  return result;
}

}  // namespace

Eigen::VectorXd DerivativeOracle::tau() const {
  const Implementation& own = *implementation_;
  return parts(own.inverseDynamics(own.q, own.v, own.a), [](double x) { return x; });
}

Eigen::VectorXd DerivativeOracle::along(const Direction& direction) const {
  const Implementation& own = *implementation_;
  return parts(own.inverseDynamics(own.moved(own.q, own.G, direction.q), varied(own.v, direction.v),
                                   varied(own.a, direction.a)),
               [](const Perturbed<double>& x) { return x.slope; });
}

Eigen::VectorXd DerivativeOracle::along(const Direction& direction, const Direction& then) const {
  // The direction of q is G(q) times its components wherever `then` takes q.
  const Implementation& own = *implementation_;
  using P = Perturbed<double>;
  const std::vector<P> q = own.moved(own.q, own.G, then.q);
  const Dense<P> G = own.ratios(own.closingRows(q, own.placed(q)));
  return parts(
      own.inverseDynamics(own.moved(q, G, direction.q), varied(varied(own.v, then.v), direction.v),
                          varied(varied(own.a, then.a), direction.a)),
      [](const Perturbed<P>& x) { return x.slope.slope; });
}

DerivativeOracle::Matrices DerivativeOracle::derivatives() const {
  const Eigen::Index n = implementation_->model.nv();
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(n);
  Matrices result{Eigen::MatrixXd(n, n), Eigen::MatrixXd(n, n), Eigen::MatrixXd(n, n)};
  for (Eigen::Index j = 0; j < n; ++j) {
    const Eigen::VectorXd e = Eigen::VectorXd::Unit(n, j);
    result.byQ.col(j) = along({e, zero, zero});
    result.byV.col(j) = along({zero, e, zero});
    result.byA.col(j) = along({zero, zero, e});
  }
  return result;
}

}  // namespace kempe::test
