/// Loads every bundled robot and prints the largest loop closure error of a hundred random
/// configurations.

#include <algorithm>
#include <cstdio>
#include <kempe/kempe.hpp>
#include <string>

int main() {
  std::printf("%-16s %8s %6s %8s %7s  %s\n", "robot", "DoF", "bodies", "loops in", "folded",
              "largest");
  std::printf("%-16s %8s %6s %8s %7s  %s\n", "", "", "", "clusters", "rotors", "residual");
  double worst = 0.0;
  for (const std::string& name : kempe::robots::names()) {
    const kempe::Model model = kempe::robots::load(name);
    kempe::Data data(model);
    Eigen::VectorXd residual(model.nLoopRows());
    double open = 0.0;
    for (int seed = 0; seed < 100; ++seed) {
      kempe::loopResidual(model, data, model.randomConfiguration(seed), residual);
      open = std::max(open, residual.lpNorm<Eigen::Infinity>());
    }
    const auto clusters =
        std::ranges::count_if(model.clusters(), [](const auto& c) { return !c.loops.empty(); });
    std::printf("%-16s %8d %6zu %8td %7zu  %.1e\n", name.c_str(), model.nv(),
                model.bodyNames().size(), clusters, model.foldedRotors().size(), open);
    worst = std::max(worst, open);
  }
  return worst < 1e-12 ? 0 : 1;
}
