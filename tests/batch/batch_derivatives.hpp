#pragma once

#include <array>

#include "batch/batch_function.hpp"

/// Derivatives among the functions of batch.hpp.
namespace kempe::test {

/// The outputs of a function that has kParts of them, side by side in one. The first takes the entries that
/// are too many or too few.
template <std::size_t kParts, typename T>
std::array<States<T>, kParts> partsOf(const States<T>& whole, Eigen::Index entries) {
  std::array<States<T>, kParts> parts;
  Eigen::Index first = 0;
  for (std::size_t i = 0; i < kParts; ++i) {
    const Eigen::Index own =
        i == 0 ? whole.entries - (static_cast<Eigen::Index>(kParts) - 1) * entries : entries;
    T* const data = whole.data == nullptr ? nullptr : whole.data + first * whole.entryStride;
    parts[i] = {data, whole.states, own, whole.stateStride, whole.entryStride};
    parts[i].firstNumber = whole.firstNumber;
    first += own;
  }
  return parts;
}

/// The matrices that `compute(matrices)` writes, one after the other.
template <std::size_t kParts, typename T, typename Compute>
Numbers<T> ofMatrices(Eigen::Index rows, Eigen::Index columns, const Compute& compute) {
  std::array<Columns<T>, kParts> matrices;
  matrices.fill(Columns<T>(rows, columns));
  compute(matrices);
  Numbers<T> out(static_cast<Eigen::Index>(kParts) * rows * columns);
  for (std::size_t i = 0; i < kParts; ++i) {
    out.segment(static_cast<Eigen::Index>(i) * rows * columns, rows * columns) =
        rowMajor<T>(matrices[i]);
  }
  return out;
}

/// The same of each frame, by `compute(frame, matrices)`: the first matrices of all frames first.
template <std::size_t kParts, typename T, typename Compute>
Numbers<T> ofMatricesOfFrames(const BatchStates<T>& states, Eigen::Index columns,
                              const Compute& compute) {
  const auto frames = static_cast<Eigen::Index>(states.frames.size());
  const Eigen::Index size = 6 * columns;
  Numbers<T> out(static_cast<Eigen::Index>(kParts) * size * frames);
  for (Eigen::Index f = 0; f < frames; ++f) {
    const Numbers<T> own = ofMatrices<kParts, T>(6, columns, [&](auto& matrices) {
      compute(states.frames[static_cast<std::size_t>(f)], matrices);
    });
    for (Eigen::Index i = 0; i < static_cast<Eigen::Index>(kParts); ++i) {
      out.segment((i * frames + f) * size, size) = own.segment(i * size, size);
    }
  }
  return out;
}

/// Functions with several matrices as outputs.
template <typename T>
std::vector<BatchFunction<T>> batchDerivatives() {
  using B = BasicBatch<T>;
  using D = BasicData<T>;
  using A = BatchArguments<T>;
  using S = BatchStates<T>;
  using Index = Eigen::Index;
  const auto ofFrames = [](Index parts) {
    return [parts](const Model& m, std::size_t frames) {
      return parts * 6 * m.nv() * static_cast<Index>(frames);
    };
  };
  const auto ofRows = [](Index rows) {
    return [rows](const Model& m, std::size_t) { return rows * m.nv(); };
  };
  const auto squares = [](const Model& m, std::size_t) { return Index{3} * m.nv() * m.nv(); };
  return {
      {"inverseDynamicsDerivatives", "a", "dtau_dq", true, false, true, squares,
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         const auto [byQ, byV, H] = partsOf<3>(out, Index{m.nv()} * m.nv());
         inverseDynamicsDerivatives(m, b, a.q, a.v, a.x, byQ, byV, H,
                                    {a.frames, a.wrenches, a.reference});
       },
       [](const Model& m, D& d, const S& s, Index k) {
         return ofMatrices<3, T>(m.nv(), m.nv(), [&](auto& out) {
           inverseDynamicsDerivatives(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(),
                                      s.x.row(k).transpose(), out[0], out[1], out[2],
                                      {.external = s.forces(k)});
         });
       },
       3},
      {"forwardDynamicsDerivatives", "tau", "da_dq", true, false, true, squares,
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         const auto [byQ, byV, byTau] = partsOf<3>(out, Index{m.nv()} * m.nv());
         forwardDynamicsDerivatives(m, b, a.q, a.v, a.x, byQ, byV, byTau,
                                    {a.frames, a.wrenches, a.reference});
       },
       [](const Model& m, D& d, const S& s, Index k) {
         return ofMatrices<3, T>(m.nv(), m.nv(), [&](auto& out) {
           forwardDynamicsDerivatives(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(),
                                      s.x.row(k).transpose(), out[0], out[1], out[2],
                                      {.external = s.forces(k)});
         });
       },
       3},
      {"frameVelocityDerivatives", "", "dv_dq", true, true, false, ofFrames(2),
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         const auto [byQ, J] = partsOf<2>(out, static_cast<Index>(6 * a.frames.size()) * m.nv());
         frameVelocityDerivatives(m, b, a.q, a.v, a.frames, byQ, J, a.reference);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         return ofMatricesOfFrames<2, T>(s, m.nv(), [&](int frame, auto& out) {
           frameVelocityDerivatives(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(), frame,
                                    out[0], out[1], s.reference);
         });
       },
       2},
      {"frameAccelerationDerivatives", "a", "da_dq", true, true, false, ofFrames(3),
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         const auto [byQ, byV, J] =
             partsOf<3>(out, static_cast<Index>(6 * a.frames.size()) * m.nv());
         frameAccelerationDerivatives(m, b, a.q, a.v, a.x, a.frames, byQ, byV, J, a.reference);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         return ofMatricesOfFrames<3, T>(s, m.nv(), [&](int frame, auto& out) {
           frameAccelerationDerivatives(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(),
                                        s.x.row(k).transpose(), frame, out[0], out[1], out[2],
                                        s.reference);
         });
       },
       3},
      {"momentumDerivatives", "", "dh_dq", true, false, false, ofRows(12),
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         const auto [byQ, J] = partsOf<2>(out, Index{6} * m.nv());
         momentumDerivatives(m, b, a.q, a.v, byQ, J);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         return ofMatrices<2, T>(6, m.nv(), [&](auto& out) {
           momentumDerivatives(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(), out[0],
                               out[1]);
         });
       },
       2},
      {"momentumRateDerivatives", "a", "drate_dq", true, false, false, ofRows(18),
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         const auto [byQ, byV, J] = partsOf<3>(out, Index{6} * m.nv());
         momentumRateDerivatives(m, b, a.q, a.v, a.x, byQ, byV, J);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         return ofMatrices<3, T>(6, m.nv(), [&](auto& out) {
           momentumRateDerivatives(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(),
                                   s.x.row(k).transpose(), out[0], out[1], out[2]);
         });
       },
       3},
      {"centerOfMassVelocityDerivatives", "", "dv_dq", true, false, false, ofRows(6),
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         const auto [byQ, J] = partsOf<2>(out, Index{3} * m.nv());
         centerOfMassVelocityDerivatives(m, b, a.q, a.v, byQ, J);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         return ofMatrices<2, T>(3, m.nv(), [&](auto& out) {
           centerOfMassVelocityDerivatives(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(),
                                           out[0], out[1]);
         });
       },
       2},
      {"centerOfMassAccelerationDerivatives", "a", "da_dq", true, false, false, ofRows(9),
       [](const Model& m, B& b, const A& a, StatesOut<T> out) {
         const auto [byQ, byV, J] = partsOf<3>(out, Index{3} * m.nv());
         centerOfMassAccelerationDerivatives(m, b, a.q, a.v, a.x, byQ, byV, J);
       },
       [](const Model& m, D& d, const S& s, Index k) {
         return ofMatrices<3, T>(3, m.nv(), [&](auto& out) {
           centerOfMassAccelerationDerivatives(m, d, s.q.row(k).transpose(), s.v.row(k).transpose(),
                                               s.x.row(k).transpose(), out[0], out[1], out[2]);
         });
       },
       3},
  };
}

}  // namespace kempe::test
