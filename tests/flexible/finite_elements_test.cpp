#include "flexible/element_testing.hpp"

namespace kempe::test {
namespace {

BeamOptions skewBar() {
  BeamOptions beam = slenderBar();
  beam.axis = {0.6, -0.5, 0.4};
  beam.modes = 9;
  beam.damping = 0.02;
  beam.stiffening = false;
  return beam;
}

double largestDifference(const Vec3<double>& a, const Vec3<double>& b) {
  return (eigen(a) - eigen(b)).cwiseAbs().maxCoeff();
}
double largestDifference(const SymMat3<double>& a, const SymMat3<double>& b) {
  return (eigen(a) - eigen(b)).cwiseAbs().maxCoeff();
}

/// Compares all but the integrals that are approximate. Signs of modes are chosen in the body's axes
/// here and in local axes there.
void expectSameModes(const FlexibleBody& found, const FlexibleBody& expected) {
  EXPECT_NEAR(found.rigid.mass, expected.rigid.mass, 1e-9);
  EXPECT_LT(largestDifference(found.rigid.moment, expected.rigid.moment), 1e-9);
  EXPECT_LT(largestDifference(found.rigid.rotation, expected.rigid.rotation), 1e-9);
  ASSERT_EQ(found.modes.size(), expected.modes.size());
  ASSERT_EQ(found.nodes.size(), expected.nodes.size());
  for (std::size_t i = 0; i < found.modes.size(); ++i) {
    const Mode &a = found.modes[i], &b = expected.modes[i];
    EXPECT_EQ(a.mass, 1.0);
    EXPECT_NEAR(a.stiffness, b.stiffness, 1e-7 * b.stiffness);
    EXPECT_NEAR(a.damping, b.damping, 1e-7 * b.damping);
    const NodeShape &s = found.nodes.back().shapes[i], &t = expected.nodes.back().shapes[i];
    const double sign =
        dot(s.translation, t.translation) + dot(s.rotation, t.rotation) < 0 ? -1 : 1;
    EXPECT_LT(largestDifference(a.linear, sign * b.linear), 1e-6) << i;
    EXPECT_LT(largestDifference(a.angular, sign * b.angular), 1e-6) << i;
    for (std::size_t k = 0; k < found.nodes.size(); ++k) {
      const NodeShape &x = found.nodes[k].shapes[i], &y = expected.nodes[k].shapes[i];
      const double scale = 1.0 + norm(y.rotation);
      EXPECT_LT(largestDifference(x.translation, sign * y.translation), 1e-6 * scale);
      EXPECT_LT(largestDifference(x.rotation, sign * y.rotation), 1e-6 * scale);
    }
  }
}

TEST(FiniteElements, OfABeamHaveItsModes) {
  BeamOptions beam = skewBar();
  const Elements elements = elementsOf(beam);
  FiniteElementOptions options{.modes = 9, .damping = 0.02};
  beam.fixed = "none";
  expectSameModes(elements.reduced(options), reduceBeam("frame", beam));
  beam.fixed = "start";
  options.interface = {0};
  expectSameModes(elements.reduced(options), reduceBeam("frame", beam));
  beam.interface = {"end"};
  options.interface = {0, 10};
  expectSameModes(elements.reduced(options), reduceBeam("frame", beam));
}

TEST(FiniteElements, ManyOfABeamHaveItsModes) {
  // More rows than a dense eigenvalue solver is used for. The second beam's frequencies are double.
  for (const bool round : {false, true}) {
    BeamOptions beam = skewBar();
    beam.elements = 80;
    beam.Iy *= 1.01;
    beam.Iz = round ? beam.Iy : beam.Iz;
    const Elements elements = elementsOf(beam);
    for (const char* fixed : {"start", "none"}) {
      beam.fixed = fixed;
      FiniteElementOptions options{.modes = 9, .damping = 0.02};
      if (beam.fixed == "start") {
        options.interface = {0};
      }
      const FlexibleBody found = elements.reduced(options), expected = reduceBeam("frame", beam);
      if (!round) {
        expectSameModes(found, expected);
      }
      for (std::size_t i = 0; i < 9; ++i) {
        EXPECT_NEAR(found.modes[i].stiffness / expected.modes[i].stiffness, 1.0, 1e-6)
            << fixed << i;
      }
    }
  }
}

TEST(FiniteElements, OfABeamHaveItsIntegralsInTheLimit) {
  BeamOptions beam = skewBar();
  FiniteElementOptions options{.modes = 6, .interface = {0}};
  beam.modes = 6;
  const auto error = [&](int count) {
    beam.elements = count;
    const FlexibleBody found = elementsOf(beam).reduced(options), exact = reduceBeam("frame", beam);
    double largest = 0.0;
    const auto sign = [&](std::size_t i) {
      return dot(found.nodes.back().shapes[i].translation,
                 exact.nodes.back().shapes[i].translation) < 0
                 ? -1.0
                 : 1.0;
    };
    for (std::size_t i = 0; i < 6; ++i) {
      largest = std::max(
          largest, largestDifference(found.modes[i].inertia, sign(i) * exact.modes[i].inertia));
      for (std::size_t j = 0; j < 6; ++j) {
        const ModePair &a = found.pairs[i * 6 + j], &b = exact.pairs[i * 6 + j];
        const double both = sign(i) * sign(j);
        largest = std::max({largest, largestDifference(a.inertia, both * b.inertia),
                            largestDifference(a.angular, both * b.angular)});
        EXPECT_EQ(norm(a.linear), 0.0);
      }
    }
    return largest;
  };
  const double coarse = error(10), fine = error(20);
  EXPECT_LT(fine, 0.1);
  EXPECT_GT(std::log2(coarse / fine), 1.8) << coarse << " " << fine;
}

TEST(FiniteElements, WithMassesAtNodesHaveTheIntegralsOfPoints) {
  BeamOptions beam = skewBar();
  Elements elements = elementsOf(beam);
  elements.nodes.rowwise() += Eigen::RowVector3d(0.3, 0.2, -0.1);  // a frame that is elsewhere
  elements.mass.setZero();
  std::vector<double> masses;
  for (int i = 0; i <= 10; ++i) {
    masses.push_back(0.1 + 0.02 * (i % 4));
    elements.mass.diagonal().segment<3>(6 * i).setConstant(masses.back());
    elements.mass.diagonal().segment<3>(6 * i + 3).setConstant(1e-12);
  }
  constexpr std::size_t n = 5;
  const FlexibleBody body = elements.reduced({.modes = n, .interface = {0}});
  const Eigen::VectorXd eta{{0.1, -0.2, 0.05, 0.03, -0.04}};
  Eigen::Vector3d h = Eigen::Vector3d::Zero();
  Eigen::Matrix3d J = Eigen::Matrix3d::Zero();
  std::vector<Eigen::Vector3d> angular(n, h), linear(n, h);
  for (std::size_t k = 0; k < body.nodes.size(); ++k) {
    Eigen::Vector3d p = eigen(body.nodes[k].position);
    for (std::size_t i = 0; i < n; ++i) {
      p += eta[static_cast<Eigen::Index>(i)] * eigen(body.nodes[k].shapes[i].translation);
    }
    h += masses[k] * p;
    J += masses[k] * (p.squaredNorm() * Eigen::Matrix3d::Identity() - p * p.transpose());
    for (std::size_t i = 0; i < n; ++i) {
      const Eigen::Vector3d rate = eigen(body.nodes[k].shapes[i].translation);
      linear[i] += masses[k] * rate;
      angular[i] += masses[k] * p.cross(rate);
    }
  }
  Eigen::Vector3d foundH = eigen(body.rigid.moment);
  Eigen::Matrix3d foundJ = eigen(body.rigid.rotation);
  for (std::size_t i = 0; i < n; ++i) {
    const double a = eta[static_cast<Eigen::Index>(i)];
    foundH += a * eigen(body.modes[i].linear);
    foundJ += a * eigen(body.modes[i].inertia);
    Eigen::Vector3d c = eigen(body.modes[i].angular);
    for (std::size_t j = 0; j < n; ++j) {
      const double b = eta[static_cast<Eigen::Index>(j)];
      foundJ += 0.5 * a * b * eigen(body.pairs[i * n + j].inertia);
      c += b * eigen(body.pairs[i * n + j].angular);
    }
    EXPECT_LT((c - angular[i]).norm(), 1e-8);
    EXPECT_LT((eigen(body.modes[i].linear) - linear[i]).norm(), 1e-8);
  }
  EXPECT_LT((foundH - h).norm(), 1e-8);
  EXPECT_LT((foundJ - J).norm(), 1e-8);
}

TEST(FiniteElements, GiveTheSameFromSparseMatrices) {
  const Elements elements = elementsOf(skewBar());
  const FiniteElementOptions options{.modes = 8, .interface = {3}};
  const Eigen::SparseMatrix<double> M = elements.mass.sparseView(),
                                    K = elements.stiffness.sparseView();
  const FlexibleBody dense = elements.reduced(options);
  const FlexibleBody sparse = reduceFiniteElements("frame", elements.nodes, M, K, options);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(dense.modes[i].stiffness, sparse.modes[i].stiffness);
    EXPECT_EQ(dense.modes[i].linear, sparse.modes[i].linear);
    // The frame is held by node 3.
    EXPECT_EQ(norm(dense.nodes[3].shapes[i].translation), 0.0);
    EXPECT_EQ(norm(dense.nodes[3].shapes[i].rotation), 0.0);
  }
}

TEST(FiniteElements, DeflectExactlyAtTheInterface) {
  BeamOptions beam = slenderBar();
  beam.elements = 60;  // with the iterative solver
  const Elements elements = elementsOf(beam);
  const FlexibleBody body = elements.reduced({.modes = 14, .interface = {0, 60, 20}});
  double tip = 0.0, third = 0.0;
  for (std::size_t i = 0; i < 14; ++i) {
    tip += std::pow(body.findNode("60")->shapes[i].translation.z, 2) / body.modes[i].stiffness;
    third += std::pow(body.findNode("20")->shapes[i].translation.y, 2) / body.modes[i].stiffness;
  }
  EXPECT_NEAR(tip * 3 * beam.E * beam.Iy, 1.0, 1e-6);
  EXPECT_NEAR(third * 3 * beam.E * beam.Iz * 27, 1.0, 1e-6);
}

TEST(FiniteElements, MatricesMayHoldRoundedNumbers) {
  BeamOptions beam = skewBar();
  Elements elements = elementsOf(beam);
  for (Eigen::MatrixXd* matrix : {&elements.mass, &elements.stiffness}) {
    for (double& number : matrix->reshaped()) {
      number = static_cast<double>(static_cast<float>(number));
    }
  }
  const FlexibleBody body = elements.reduced({.modes = 4, .interface = {0}});
  EXPECT_NEAR(body.modes[0].stiffness / reduceBeam("rod", beam).modes[0].stiffness, 1.0, 0.01);
}

TEST(FiniteElements, NodesHaveTheNamesGiven) {
  BeamOptions beam = slenderBar();
  beam.elements = 2;
  const FlexibleBody body = elementsOf(beam).reduced({.modes = 3, .names = {"hub", "middle", "1"}});
  EXPECT_EQ(body.findNode("hub"), &body.nodes[0]);
  EXPECT_EQ(body.findNode("1"), &body.nodes[2]);
  EXPECT_EQ(body.findNode("0"), &body.nodes[0]);
}

}  // namespace
}  // namespace kempe::test
