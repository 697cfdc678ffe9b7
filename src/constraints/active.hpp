#pragma once

#include <algorithm>
#include <vector>

#include "constraints/table.hpp"
#include "tables/constraint_request.hpp"

namespace kempe::detail {

/// A constraint that is on, and where its rows begin among those that are on.
struct ActiveConstraint {
  const ConstraintEntry* entry = nullptr;
  int firstRow = 0;     ///< among those that are on
  int firstSlope = 0;   ///< in the scratch
  int firstOutput = 0;  ///< among those of all constraints of the caller
};

/// The constraints of one or several tables that are on, and the sizes of their scratch.
struct ActiveConstraints {
  std::vector<ActiveConstraint> list;
  int rows = 0, slopes = 0;
  int outputs = 0;          ///< rows of all constraints, on or off
  int functionNumbers = 0;  ///< registers of the largest program of a function
  bool onRotors = false;    ///< rows pull at rotors that may be folded

  void clear() {
    list.clear();
    rows = slopes = outputs = functionNumbers = 0;
    onRotors = false;
  }

  /// Appends the constraints of a table that are on.
  void add(const ConstraintTable& table) {
    for (const ConstraintEntry& entry : table.entries) {
      if (entry.enabled) {
        list.push_back({&entry, rows, slopes, outputs + entry.firstRow});
        rows += entry.rows;
        slopes += entry.rows * static_cast<int>(entry.terms.size());
        onRotors |= entry.onRotor;
      }
    }
    outputs += table.rows;
    functionNumbers = std::max(functionNumbers, table.functionNumbers);
  }
};

/// Constraints as a kernel takes them.
template <typename T>
ConstraintRequest<T> requestOf(const ActiveConstraints& active, const FunctionScratch& functions) {
  ConstraintRequest<T> request;
  request.active = active.list.data();
  request.count = static_cast<int>(active.list.size());
  request.rows = active.rows;
  request.slopes = active.slopes;
  request.functionNumbers = active.functionNumbers;
  request.functions = functions;
  return request;
}

}  // namespace kempe::detail
