#include <cstring>
#include <exception>
#include <iostream>

#include "check.hpp"

/// Calls every function of the installed library; may be compiled for another instruction set than
/// the library.
int main() {
  try {
    check(std::strcmp(kempe::version(), KEMPE_VERSION) == 0,
          std::string("library ") + kempe::version() + ", headers " + KEMPE_VERSION);
    checkMechanisms();
    checkFlexibleBodies();
    checkMatrixFiles();
    checkModels();
    checkConfigurations();
    checkDynamics();
    checkConstraints();
    checkBatches();
    checkSimulation();
  } catch (const std::exception& error) {
    std::cerr << "failed: " << error.what() << '\n';
    return 1;
  }
  std::cout << "library " << kempe::version() << " with " << kempe::instructionSet()
            << " kernels, program with " << EIGEN_MAX_ALIGN_BYTES << "-byte alignment: passed\n";
  return 0;
}
