#pragma once

#include <kempe/kempe.hpp>
#include <stdexcept>
#include <string>

/// Throws unless `holds`.
inline void check(bool holds, const std::string& what) {
  if (!holds) {
    throw std::logic_error(what);
  }
}

/// Whether the call throws an exception of this type across the library boundary.
template <typename Error, typename Call>
bool throws(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what()[0] != '\0';
  }
  return false;
}

// Together they call every function that the library exports.
void checkMechanisms();
void checkFlexibleBodies();
void checkMatrixFiles();
void checkModels();
void checkConfigurations();
void checkDynamics();
void checkConstraints();
void checkBatches();
void checkSimulation();
