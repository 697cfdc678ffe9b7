#pragma once

#include <Eigen/Geometry>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kempe/kempe.hpp"

/// Functions of batch.hpp under one signature.
namespace kempe::test {

template <typename T>
using Rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using Columns = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <typename T>
using Numbers = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// Arguments of a call. `x` are accelerations or forces, as the function wants them.
template <typename T>
struct BatchArguments {
  StatesIn<T> q, v, x;
  std::vector<int> frames;  ///< that are asked for, or that the external forces act on
  StatesIn<T> wrenches;
  Reference reference = Reference::LocalWorldAligned;
  T dt = T(0.01);
};

/// States with all that a call can want of them, a row each.
template <typename T>
struct BatchStates {
  Rows<T> q, v, x, wrenches;
  std::vector<int> frames;
  Reference reference = Reference::LocalWorldAligned;
  T dt = T(0.01);

  [[nodiscard]] Eigen::Index count() const { return q.rows(); }
  [[nodiscard]] BatchArguments<T> arguments() const {
    return {q, v, x, frames, wrenches, reference, dt};
  }
  [[nodiscard]] std::vector<FrameForce> forces(Eigen::Index state) const {
    std::vector<FrameForce> result;
    for (std::size_t f = 0; f < frames.size(); ++f) {
      FrameForce force{frames[f], {}, reference};
      for (std::size_t i = 0; i < 6; ++i) {
        force.wrench[i] =
            static_cast<double>(wrenches(state, static_cast<Eigen::Index>(6 * f + i)));
      }
      result.push_back(force);
    }
    return result;
  }
};

/// Frames of all sorts: links, joints, rotors (folded ones among them), what does not move.
inline std::vector<int> someFrames(const Model& model) {
  std::vector<int> frames{model.frameIndex(model.mechanism().bodies.front().name),
                          model.frameIndex(model.mechanism().bodies.back().name)};
  if (!model.jointNames().empty()) {
    frames.push_back(model.frameIndex(model.jointNames()[model.jointNames().size() / 2]));
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(2, model.foldedRotors().size()); ++i) {
    frames.push_back(model.frameIndex(model.foldedRotors()[i]));
  }
  return frames;
}

/// Random states; configurations are drawn once and come again, as closing loops takes time.
template <typename T>
BatchStates<T> randomStates(const Model& model, int count, std::uint64_t seed = 1) {
  constexpr int kDistinct = 23;
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const auto random = [&](Eigen::Index entries) {
    return Rows<T>(Rows<T>::NullaryExpr(
        count, entries, [&](Eigen::Index) { return static_cast<T>(uniform(engine)); }));
  };
  BatchStates<T> states;
  states.frames = someFrames(model);
  states.q.resize(count, model.nq());
  for (int k = 0; k < count; ++k) {
    if (k < kDistinct) {
      states.q.row(k) = model.randomConfiguration(seed + static_cast<std::uint64_t>(k))
                            .template cast<T>()
                            .transpose();
    } else {
      states.q.row(k) = states.q.row(k % kDistinct);
    }
  }
  states.v = random(model.nv());
  // Near the ends of what loops allow, steps have to be small.
  Data data(model);
  Eigen::VectorXd next(model.nq());
  for (Eigen::Index k = 0; k < count; ++k) {
    for (bool reached = false; !reached;) {
      try {
        integrate(model, data, states.q.row(k).transpose().template cast<double>(),
                  states.v.row(k).transpose().template cast<double>(), states.dt, next);
        reached = true;
      } catch (const AssemblyError&) {
        states.v.row(k) *= T(0.1);
      }
    }
  }
  states.x = random(model.nv());
  states.wrenches = random(6 * static_cast<Eigen::Index>(states.frames.size()));
  return states;
}

template <typename T>
struct BatchFunction {
  std::string name;
  std::string x;       ///< what it calls x; empty where it takes none
  std::string output;  ///< what it calls its output
  bool takesV = false, takesFrames = false, takesForces = false;
  std::function<Eigen::Index(const Model&, std::size_t frames)> entries;  ///< of the output
  std::function<void(const Model&, BasicBatch<T>&, const BatchArguments<T>&, StatesOut<T>)> run;
  /// The same for state k, by the function for one state.
  std::function<Numbers<T>(const Model&, BasicData<T>&, const BatchStates<T>&, Eigen::Index)> one;
  int parts = 1;  ///< outputs of the same size, side by side

  [[nodiscard]] bool takes(const std::string& argument) const {
    return argument == "q" || (argument == "v" && takesV) || (argument == "x" && !x.empty()) ||
           (argument == "wrenches" && takesForces);
  }
  /// An output full of NaN.
  [[nodiscard]] Rows<T> room(const Model& model, const BatchStates<T>& states) const {
    return Rows<T>::Constant(states.count(), entries(model, states.frames.size()),
                             std::numeric_limits<T>::quiet_NaN());
  }
  [[nodiscard]] Rows<T> operator()(const Model& model, BasicBatch<T>& batch,
                                   const BatchStates<T>& states) const {
    Rows<T> out = room(model, states);
    run(model, batch, states.arguments(), out);
    return out;
  }
};

/// The numbers of a matrix, row by row.
template <typename T>
Numbers<T> rowMajor(const Columns<T>& matrix) {
  return matrix.transpose().reshaped();
}

/// `entries` numbers of each frame, which `compute(frame, out)` writes.
template <typename T, typename Compute>
Numbers<T> ofFrames(const BatchStates<T>& states, Eigen::Index entries, const Compute& compute) {
  Numbers<T> out(entries * static_cast<Eigen::Index>(states.frames.size()));
  Eigen::Index first = 0;
  for (const int frame : states.frames) {
    compute(frame, out.segment(first, entries));
    first += entries;
  }
  return out;
}

}  // namespace kempe::test
