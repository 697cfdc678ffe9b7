#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "kempe/model.hpp"
#include "support/perturbed_algebra.hpp"

namespace kempe::test {

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

/// A body and the joint above it.
struct Link {
  const Joint* joint = nullptr;
  const Body* body = nullptr;
  int parent = -1;  ///< an index, or kWorldLink
  int position = 0, velocity = 0;
};

inline constexpr int kWorldLink = -1;

/// Frames of all bodies, and the velocity that each spanning velocity gives to the bodies above its
/// joint: `spin`, and `shift` at the world's origin.
template <typename S>
struct Placed {
  std::vector<Frame<S>> frames;
  std::vector<Triple<S>> spin, shift;
};

/// The spanning tree of a model, in motion: frames of bodies by products of those of its joints, and
/// velocities by the derivatives of these.
class MovingTree {
 public:
  explicit MovingTree(const Model& model);

  [[nodiscard]] int linkOf(const std::string& body) const {
    const auto found = linkOfBody_.find(body);
    return found == linkOfBody_.end() ? kWorldLink : found->second;
  }
  [[nodiscard]] const Link& linkWith(const Coordinate& coordinate) const {
    return links[static_cast<std::size_t>(linkOfJoint_.at(coordinate.joint))];
  }
  /// Whether a spanning velocity moves a body.
  [[nodiscard]] bool moves(int velocity, int link) const {
    return link != kWorldLink &&
           moving_[static_cast<std::size_t>(link)][static_cast<std::size_t>(velocity)];
  }
  template <typename T>
  static Frame<T> frameOf(const std::vector<Frame<T>>& frames, int link) {
    return link == kWorldLink ? Frame<T>::identity() : frames[static_cast<std::size_t>(link)];
  }

  template <typename S>
  [[nodiscard]] Placed<S> placed(const std::vector<S>& position) const;
  /// Frames of all bodies along a path with these rates and accelerations of all joints.
  template <typename S>
  [[nodiscard]] std::vector<Frame<PathJet<S>>> framesAlong(
      const std::vector<S>& position, const std::vector<S>& rates,
      const std::vector<S>& accelerations) const;
  /// Positions as they move at these rates of all joints.
  template <typename S>
  [[nodiscard]] std::vector<Perturbed<S>> moved(const std::vector<S>& position,
                                                const std::vector<S>& rates) const;

  std::vector<Link> links;  ///< parents first

 private:
  int velocities_;  ///< spanning
  std::map<std::string, int> linkOfBody_, linkOfJoint_;
  std::vector<std::vector<bool>> moving_;  ///< by link and spanning velocity
};

inline MovingTree::MovingTree(const Model& model) : velocities_(model.nvSpanning()) {
  const Mechanism& mechanism = model.mechanism();
  const auto n = static_cast<std::size_t>(velocities_);
  while (links.size() < mechanism.joints.size()) {
    for (const Joint& joint : mechanism.joints) {
      const bool parentKnown =
          mechanism.jointAbove(joint.parent) == nullptr || linkOfBody_.contains(joint.parent);
      if (!parentKnown || linkOfBody_.contains(joint.child)) {
        continue;
      }
      const int index = static_cast<int>(links.size());
      const bool fixed = joint.type == JointType::Fixed;
      const Link link{&joint, mechanism.findBody(joint.child), linkOf(joint.parent),
                      fixed ? 0 : model.jointPositionIndex(joint.name),
                      fixed ? 0 : model.jointVelocityIndex(joint.name)};
      moving_.push_back(link.parent == kWorldLink ? std::vector<bool>(n)
                                                  : moving_[static_cast<std::size_t>(link.parent)]);
      for (int i = 0; i < velocitySize(joint.type); ++i) {
        moving_.back()[static_cast<std::size_t>(link.velocity + i)] = true;
      }
      links.push_back(link);
      linkOfBody_[joint.child] = linkOfJoint_[joint.name] = index;
    }
  }
}

template <typename S>
Placed<S> MovingTree::placed(const std::vector<S>& position) const {
  Placed<S> result;
  result.spin.resize(static_cast<std::size_t>(velocities_));
  result.shift = result.spin;
  for (const Link& link : links) {
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
std::vector<Frame<PathJet<S>>> MovingTree::framesAlong(const std::vector<S>& position,
                                                       const std::vector<S>& rates,
                                                       const std::vector<S>& accelerations) const {
  using P = PathJet<S>;
  std::vector<Frame<P>> frames;
  for (const Link& link : links) {
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

template <typename S>
std::vector<Perturbed<S>> MovingTree::moved(const std::vector<S>& position,
                                            const std::vector<S>& rates) const {
  std::vector<Perturbed<S>> result(position.size());
  for (const Link& link : links) {
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

}  // namespace kempe::test
