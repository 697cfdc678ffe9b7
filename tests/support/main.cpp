#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string_view>

#include "kempe/instruction_set.hpp"

namespace {

constexpr int kSkipped = 77;  // ctest reports this code as "skipped" (SKIP_RETURN_CODE)

/// Whether KEMPE_ISA asks for instructions that this processor does not have. The library chooses
/// once in a process, so a process of its own is asked.
bool instructionsAreMissing() {
  const pid_t child = fork();
  if (child == 0) {
    try {
      (void)kempe::instructionSet();
    } catch (const std::runtime_error& error) {
      if (std::string_view(error.what()).find("does not have") != std::string_view::npos) {
        (void)std::fprintf(stderr, "skipped: %s\n", error.what());
        _exit(kSkipped);
      }
    }
    _exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == kSkipped;
}

}  // namespace

/// Of all test programs.
int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  return instructionsAreMissing() ? kSkipped : RUN_ALL_TESTS();
}
