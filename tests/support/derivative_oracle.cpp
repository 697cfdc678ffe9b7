#include "support/derivative_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "kempe/configuration.hpp"
#include "support/decompositions.hpp"
#include "support/loop_rows.hpp"
#include "support/moving_tree.hpp"
#include "support/perturbed_algebra.hpp"

namespace kempe::test {

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
  /// Spanning positions as they move along the independent velocities `along`.
  template <typename S>
  [[nodiscard]] std::vector<Perturbed<S>> moved(const std::vector<S>& q, const Dense<S>& G,
                                                const Eigen::VectorXd& along) const;

  const Model model;
  const MovingTree tree;
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

  /// φ, from frames of bodies and coordinates.
  template <typename T, typename FrameAt, typename CoordinateAt>
  [[nodiscard]] std::vector<T> rowsOfClosing(const Closing& closing, const FrameAt& frameAt,
                                             const CoordinateAt& coordinateAt) const;
  /// k of K q̈ = k, with the same lengths.
  template <typename S>
  [[nodiscard]] Dense<S> closingBias(const std::vector<S>& q, const std::vector<S>& rates) const;
  template <typename S>
  [[nodiscard]] std::vector<S> spanningForces(const std::vector<S>& q, const Placed<S>& placed,
                                              const std::vector<S>& rates,
                                              const std::vector<S>& accelerations) const;

  std::vector<Closing> closings_;
  std::vector<int> independent_, dependent_;       ///< spanning velocities
  Eigen::VectorXd scale_;                          ///< of rows
  Eigen::MatrixXd inverse_;                        ///< (K of the dependent velocities)⁺
  std::vector<std::vector<FrameForce>> external_;  ///< by link
};

DerivativeOracle::Implementation::Implementation(const Model& of) : model(of), tree(of) {
  const Mechanism& mechanism = model.mechanism();
  if (!model.cutLoops().empty()) {
    throw std::logic_error("the oracle embeds all loops");
  }
  const auto addCoordinates = [&](Closing& closing, const auto& coordinates) {
    for (const auto& coordinate : coordinates) {
      const Coordinate* c = nullptr;
      if constexpr (requires { coordinate.coordinate; }) {
        c = &coordinate.coordinate;
      } else {
        c = &coordinate;
      }
      closing.velocities.push_back(tree.linkWith(*c).velocity + c->component);
    }
  };
  const auto addBodies = [&](Closing& closing, const std::string& first,
                             const std::string& second) {
    for (int d = 0; d < model.nvSpanning(); ++d) {
      if (tree.moves(d, tree.linkOf(first)) !=
          tree.moves(d, tree.linkOf(second))) {  // not both as one
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
  for (int d = 0; d < model.nvSpanning(); ++d) {
    if (std::ranges::find(independent_, d) == independent_.end()) {
      dependent_.push_back(d);
    }
  }
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
      return frameAt(tree.linkOf(of.body)) * Frame<T>::from(of.frame);
    };
    return loopRows(*closing.joint,
                    end(closing.joint->predecessor).inverse() * end(closing.joint->successor));
  }
  if (closing.rod != nullptr) {
    const auto end = [&](const Rod::End& of) {
      return frameAt(tree.linkOf(of.body)).point(tripleOf<T>(of.point));
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
        const Frame<S> still = MovingTree::frameOf(at.frames, link);
        const bool moving = tree.moves(d, link);
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
        const Link& link = tree.linkWith(coordinate);
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
  const std::vector<Frame<P>> frames = tree.framesAlong(position, rates, still);
  Dense<S> k(scale_.size(), 1);
  Eigen::Index row = 0;
  for (const Closing& closing : closings_) {
    const std::vector<P> phi = rowsOfClosing<P>(
        closing, [&](int link) { return MovingTree::frameOf(frames, link); },
        [&](const Coordinate& coordinate) {
          const Link& link = tree.linkWith(coordinate);
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
  const std::vector<Frame<P>> frames = tree.framesAlong(position, rates, accelerations);
  std::vector<Triple<S>> forces(tree.links.size()), moments = forces;  // about the world's origin
  for (std::size_t l = tree.links.size(); l-- > 0;) {
    const Link& link = tree.links[l];
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
  for (std::size_t l = 0; l < tree.links.size(); ++l) {
    const Link& link = tree.links[l];
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
  const Placed<S> at = tree.placed(position);
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
  return tree.moved(position, rates);
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
  external_.assign(tree.links.size(), {});
  for (const FrameForce& force : external) {
    const int link = tree.linkOf(model.frameNames()[static_cast<std::size_t>(force.frame)]);
    if (link != kWorldLink) {
      external_[static_cast<std::size_t>(link)].push_back(force);
    }
  }
  const Placed<double> at = tree.placed(q);
  Eigen::Index rows = 0;
  for (const Closing& closing : closings_) {
    rows += static_cast<Eigen::Index>(
        rowsOfClosing<double>(
            closing, [&](int link) { return MovingTree::frameOf(at.frames, link); },
            [&](const Coordinate& coordinate) {
              return q[static_cast<std::size_t>(tree.linkWith(coordinate).position +
                                                coordinate.component)];
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
  const Dense<P> G = own.ratios(own.closingRows(q, own.tree.placed(q)));
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
