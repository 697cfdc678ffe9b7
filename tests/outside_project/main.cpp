#include <cstring>
#include <iostream>
#include <kempe/kempe.hpp>

/// Builds, assembles and moves a robot with what is installed; succeeds where its loops stay
/// closed.
int main() {
  if (std::strcmp(kempe::version(), KEMPE_VERSION) != 0) {
    std::cerr << "library " << kempe::version() << ", headers " << KEMPE_VERSION << '\n';
    return 1;
  }

  const kempe::Model model = kempe::robots::load("four_bar");
  kempe::Data data(model);
  Eigen::VectorXd q = model.randomConfiguration(7);
  const Eigen::VectorXd start = q;
  const Eigen::VectorXd v = Eigen::VectorXd::Constant(model.nv(), 0.1);
  kempe::integrate(model, data, q, v, 0.1, q);

  Eigen::VectorXd residual(model.nLoopRows());
  kempe::loopResidual(model, data, q, residual);
  std::cout << "four_bar: moved by " << (q - start).norm() << ", open by " << residual.norm()
            << '\n';
  return model.nv() == 1 && (q - start).norm() > 1e-3 && residual.norm() < 1e-12 ? 0 : 1;
}
