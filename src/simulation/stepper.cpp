#include "simulation/stepper.hpp"

#include "text/messages.hpp"

namespace kempe::detail {

NoSolution::NoSolution(double h)
    : std::runtime_error("an implicit step finds no solution, even if it is shortened to " +
                         shortNumber(h) +
                         " s: a force jumps with the state. Make the forces of controllers and "
                         "functions continuous") {}

}  // namespace kempe::detail
