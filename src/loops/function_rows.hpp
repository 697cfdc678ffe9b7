#pragma once

#include <span>

#include "loops/run_program.hpp"
#include "tables/kernel_arguments.hpp"
#include "tables/workspace.hpp"

/// φ of a function of coordinates and its derivatives: by its programs for all states of a pack at
/// once, or by its callbacks for one state after the other.
namespace kempe::detail {

/// A cluster in motion; `v` and `a` are null where only positions matter.
template <typename T>
struct ClusterState {
  const T* q = nullptr;      ///< positions
  const T* rates = nullptr;  ///< q̇
  Transform<T>* X = nullptr;
  Motion<T>* s = nullptr;  ///< directions, one per velocity
  Motion<T>* v = nullptr;
  Motion<T>* a = nullptr;  ///< accelerations for q̈ = 0
  Transform<T> outputX{};
  Motion<T> outputV{}, outputA{};
  T* function = nullptr;  ///< registers of the program of a function
  T* kept = nullptr;      ///< registers that functions keep from slopes to second rates
};

/// The tables that a computation with T reads.
template <typename T>
using TablesOf = TablesView<typename Lanes<T>::Scalar>;

/// Runs a program of a function on q or on q and q̇.
template <typename T>
KEMPE_HD const T* runFunction(const TablesOf<T>& tables, const auto& loop,
                              const ProgramEntry& program, const ClusterState<T>& state) {
  const auto* terms = tables.terms + loop.firstTerm;
  for (int t = 0; t < loop.terms; ++t) {
    state.function[t] = state.q[terms[t].position];
  }
  for (int t = loop.terms; t < program.arguments; ++t) {
    state.function[t] = state.rates[terms[t - loop.terms].velocity];
  }
  return runProgram(tables.programSteps.data(), program, state.function);
}

/// Calls `call(lane, put)` for each lane, which gives the lane's results by `put(i, number)`.
template <typename T, typename Call>
KEMPE_HD const T* callFunction(const ClusterState<T>& state, const Call& call) {
  T* const results = state.function;
#ifndef __CUDA_ARCH__  // a model with callbacks does not get to a device
  for (int lane = 0; lane < Lanes<T>::count; ++lane) {
    call(lane, [&](int i, double number) {
      Lanes<T>::set(results[i], lane, static_cast<typename Lanes<T>::Scalar>(number));
    });
  }
#endif
  return results;
}

/// φ: rows.
template <typename T>
KEMPE_HD const T* functionValue(const TablesOf<T>& tables, const FunctionCalls& functions,
                                const auto& loop, const ClusterState<T>& state,
                                const FunctionScratch& scratch) {
  if (loop.programs.exist()) {
    return runFunction(tables, loop, loop.programs.value, state);
  }
  const auto* terms = tables.terms + loop.firstTerm;
  return callFunction(state, [&](int lane, const auto& put) {
    for (int t = 0; t < loop.terms; ++t) {
      scratch.q[t] = static_cast<double>(Lanes<T>::get(state.q[terms[t].position], lane));
    }
    functions[loop.function].value(std::span<const double>(scratch.q, loop.terms),
                                   std::span<double>(scratch.phi, loop.rows));
    for (int r = 0; r < loop.rows; ++r) {
      put(r, scratch.phi[r]);
    }
  });
}

/// Calls a function with scratch.jetQ, for scratch.jetPhi.
inline void callWithJets(const FunctionCalls& functions, const auto& loop,
                         const FunctionScratch& scratch) {
  functions[loop.function].jet(std::span<const Jet>(scratch.jetQ, loop.terms),
                               std::span<Jet>(scratch.jetPhi, loop.rows));
}

/// ∂φ/∂q: rows × terms.
template <typename T>
KEMPE_HD const T* functionSlopes(const TablesOf<T>& tables, const FunctionCalls& functions,
                                 const auto& loop, const ClusterState<T>& state,
                                 const FunctionScratch& scratch) {
  const auto* terms = tables.terms + loop.firstTerm;
  if (loop.programs.exist()) {
    T* const registers = state.kept + loop.programs.firstRegister;
    for (int t = 0; t < loop.terms; ++t) {
      registers[t] = state.q[terms[t].position];
    }
    return runProgram(tables.programSteps.data(), loop.programs.slopes, registers);
  }
  return callFunction(state, [&](int lane, const auto& put) {
    for (int t = 0; t < loop.terms; ++t) {
      scratch.jetQ[t] = Jet(static_cast<double>(Lanes<T>::get(state.q[terms[t].position], lane)));
    }
    for (int t = 0; t < loop.terms; ++t) {
      scratch.jetQ[t].first = 1.0;
      callWithJets(functions, loop, scratch);
      scratch.jetQ[t].first = 0.0;
      for (int r = 0; r < loop.rows; ++r) {
        put(r * loop.terms + t, scratch.jetPhi[r].first);
      }
    }
  });
}

/// φ̈ where q̈ = 0: rows. After functionSlopes at the same position, whose registers the program
/// continues to use.
template <typename T>
KEMPE_HD const T* functionSecondRate(const TablesOf<T>& tables, const FunctionCalls& functions,
                                     const auto& loop, const ClusterState<T>& state,
                                     const FunctionScratch& scratch) {
  const auto* terms = tables.terms + loop.firstTerm;
  if (loop.programs.exist()) {
    T* const registers = state.kept + loop.programs.firstRegister;
    for (int t = 0; t < loop.terms; ++t) {
      registers[loop.terms + t] = state.rates[terms[t].velocity];
    }
    return runProgram(tables.programSteps.data(), loop.programs.secondRate, registers);
  }
  return callFunction(state, [&](int lane, const auto& put) {
    for (int t = 0; t < loop.terms; ++t) {
      scratch.jetQ[t] = {static_cast<double>(Lanes<T>::get(state.q[terms[t].position], lane)),
                         static_cast<double>(Lanes<T>::get(state.rates[terms[t].velocity], lane)),
                         0.0};
    }
    callWithJets(functions, loop, scratch);
    for (int r = 0; r < loop.rows; ++r) {
      put(r, scratch.jetPhi[r].second);
    }
  });
}

/// d/dt ∂φ/∂q: rows × terms.
template <typename T>
KEMPE_HD const T* functionSlopeRates(const TablesOf<T>& tables, const FunctionCalls& functions,
                                     const auto& loop, const ClusterState<T>& state,
                                     const FunctionScratch& scratch) {
  if (loop.programs.exist()) {
    return runFunction(tables, loop, loop.programs.slopeRates, state);
  }
  const auto* terms = tables.terms + loop.firstTerm;
  return callFunction(state, [&](int lane, const auto& put) {
    const auto secondAlong = [&](int moved, double by) {
      for (int t = 0; t < loop.terms; ++t) {
        scratch.jetQ[t] = {
            static_cast<double>(Lanes<T>::get(state.q[terms[t].position], lane)),
            static_cast<double>(Lanes<T>::get(state.rates[terms[t].velocity], lane)) +
                (t == moved ? by : 0.0),
            0.0};
      }
      callWithJets(functions, loop, scratch);
    };
    // ∂²φ[e_t, q̇] = (φ″[q̇ + e_t] − φ″[q̇ − e_t]) / 4
    for (int t = 0; t < loop.terms; ++t) {
      secondAlong(t, 1.0);
      for (int r = 0; r < loop.rows; ++r) {
        scratch.phi[r] = scratch.jetPhi[r].second;
      }
      secondAlong(t, -1.0);
      for (int r = 0; r < loop.rows; ++r) {
        put(r * loop.terms + t, 0.25 * (scratch.phi[r] - scratch.jetPhi[r].second));
      }
    }
  });
}

}  // namespace kempe::detail
