#pragma once

#include <kempe/kempe.hpp>
#include <stdexcept>
#include <string>

/// Throws where something does not hold.
inline void check(bool holds, const std::string& what) {
  if (!holds) {
    throw std::logic_error(what);
  }
}

/// Whether a call throws an exception of this type, which is caught on this side of the library.
template <typename Error, typename Call>
bool throws(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what()[0] != '\0';
  }
  return false;
}

// Between them they call every function that the library exports.
void checkMechanisms();
void checkModels();
void checkConfigurations();
void checkDynamics();
void checkConstraints();
void checkBatches();
void checkSimulation();
