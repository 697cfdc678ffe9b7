#include "kempe/all_terms.hpp"

#include <gtest/gtest.h>

#include <random>

#include "dynamics/named_mechanism.hpp"
#include "kempe/kempe.hpp"
#include "support/allocations.hpp"
#include "support/close_to.hpp"

/// All terms at once, and the motion that functions for single terms share: results are those of
/// evaluations that share nothing.
namespace kempe::test {
namespace {

template <typename T>
using Numbers = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <typename T>
using Columns = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

template <typename T>
struct State {
  Numbers<T> q, v, a;
};

/// A function of a state that shares the motion of bodies, and its result as a column.
template <typename T>
struct Shared {
  const char* name;
  std::function<Numbers<T>(const Model&, BasicData<T>&, const State<T>&, int frame)> compute;
};

template <typename T>
Numbers<T> numbersOf(const Transform<T>& X) {
  Numbers<T> all(12);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      all[3 * i + j] = X.R(i, j);
    }
    all[9 + i] = X.p[i];
  }
  return all;
}

template <typename T>
std::vector<Shared<T>> sharedFunctions() {
  using M = const Model&;
  using D = BasicData<T>&;
  using S = const State<T>&;
  const auto six = [](const auto& compute) {
    Numbers<T> out = Numbers<T>::Constant(6, NAN);
    compute(out);
    return out;
  };
  const auto matrix = [](int rows, int columns, const auto& compute) {
    Columns<T> out = Columns<T>::Constant(rows, columns, NAN);
    compute(out);
    return Numbers<T>(out.reshaped());
  };
  return {
      {"placement",
       [](M m, D d, S s, int f) { return numbersOf<T>(framePlacement<T>(m, d, s.q, f)); }},
      {"velocity",
       [=](M m, D d, S s, int f) {
         return six([&](auto& out) { frameVelocity(m, d, s.q, s.v, f, out); });
       }},
      {"acceleration",
       [=](M m, D d, S s, int f) {
         return six([&](auto& out) { frameAcceleration(m, d, s.q, s.v, s.a, f, out); });
       }},
      {"Jacobian rate",
       [=](M m, D d, S s, int f) {
         return six([&](auto& out) { frameJacobianRate(m, d, s.q, s.v, f, out); });
       }},
      {"Jacobian",
       [=](M m, D d, S s, int f) {
         return matrix(6, m.nv(), [&](auto& out) { frameJacobian(m, d, s.q, f, out); });
       }},
      {"centre of mass",
       [](M m, D d, S s, int) {
         const Vec3<T> c = centerOfMass<T>(m, d, s.q);
         return Numbers<T>(Eigen::Matrix<T, 3, 1>(c.x, c.y, c.z));
       }},
      {"Jacobian of the centre of mass",
       [=](M m, D d, S s, int) {
         return matrix(3, m.nv(), [&](auto& out) { centerOfMassJacobian(m, d, s.q, out); });
       }},
      {"momentum",
       [=](M m, D d, S s, int) { return six([&](auto& out) { momentum(m, d, s.q, s.v, out); }); }},
      {"momentum matrix",
       [=](M m, D d, S s, int) {
         return matrix(6, m.nv(), [&](auto& out) { centroidalMomentumMatrix(m, d, s.q, out); });
       }},
      {"energy",
       [](M m, D d, S s, int) {
         const Energy e = energy<T>(m, d, s.q, s.v);
         return Numbers<T>(Eigen::Vector2d(e.kinetic, e.potential).cast<T>());
       }},
      {"mass matrix",
       [=](M m, D d, S s, int) {
         return matrix(m.nv(), m.nv(), [&](auto& out) { massMatrix(m, d, s.q, out); });
       }},
      {"Coriolis matrix",
       [=](M m, D d, S s, int) {
         return matrix(m.nv(), m.nv(), [&](auto& out) { coriolisMatrix(m, d, s.q, s.v, out); });
       }},
      {"bias forces",
       [=](M m, D d, S s, int) {
         return matrix(m.nv(), 1, [&](auto& out) { biasForces(m, d, s.q, s.v, out.col(0)); });
       }},
      {"gravity forces",
       [=](M m, D d, S s, int) {
         return matrix(m.nv(), 1, [&](auto& out) { gravityForces(m, d, s.q, out.col(0)); });
       }},
      // Uses the memory that the motion is in.
      {"forward dynamics",
       [=](M m, D d, S s, int) {
         return matrix(m.nv(), 1,
                       [&](auto& out) { forwardDynamics(m, d, s.q, s.v, s.a, out.col(0)); });
       }},
  };
}

class TermsOfEveryMechanism : public ::testing::TestWithParam<NamedMechanism> {
 protected:
  TermsOfEveryMechanism() : model(GetParam().make()), engine(11) {}

  template <typename T>
  Numbers<T> randomVelocity() {
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    return Numbers<T>::NullaryExpr(model.nv(), [&] { return static_cast<T>(uniform(engine)); });
  }
  template <typename T>
  State<T> randomState(std::uint64_t seed) {
    return {model.randomConfiguration(seed).cast<T>(), randomVelocity<T>(), randomVelocity<T>()};
  }
  /// Every third, and those of folded rotors.
  std::vector<int> someFrames() const {
    std::vector<int> frames;
    for (std::size_t f = 0; f < model.frameNames().size(); f += 3) {
      frames.push_back(static_cast<int>(f));
    }
    for (const std::string& rotor : model.foldedRotors()) {
      frames.push_back(model.frameIndex(rotor));
    }
    return frames;
  }

  Model model;
  std::mt19937_64 engine;
};

TEST_P(TermsOfEveryMechanism, SharedMotionIsThatOfTheState) {
  const std::vector<State<double>> states = {randomState<double>(1), randomState<double>(2)};
  const std::vector<int> frames = someFrames();
  const std::vector<Shared<double>> functions = sharedFunctions<double>();
  Data data(model);
  const auto pick = [&](std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(engine);
  };
  for (int call = 0; call < 150; ++call) {
    // States that have some of their parts in common with the one before.
    const State<double> state{states[pick(2)].q, states[pick(2)].v, states[pick(2)].a};
    const Shared<double>& function = functions[pick(functions.size())];
    const int frame = frames[pick(frames.size())];
    Data fresh(model);
    ASSERT_TRUE(closeTo(function.compute(model, data, state, frame),
                        function.compute(model, fresh, state, frame), 1e-11))
        << function.name << ", call " << call;
  }
}

TEST_P(TermsOfEveryMechanism, FloatIsCloseToDouble) {
  Data data(model);
  DataF dataF(model);
  const State<float> state = randomState<float>(3);
  const State<double> same{state.q.cast<double>(), state.v.cast<double>(), state.a.cast<double>()};
  const std::vector<Shared<float>> inFloat = sharedFunctions<float>();
  const std::vector<Shared<double>> inDouble = sharedFunctions<double>();
  for (std::size_t f = 0; f + 1 < inFloat.size(); ++f) {  // the last inverts
    for (const int frame : someFrames()) {
      ASSERT_TRUE(closeTo(inFloat[f].compute(model, dataF, state, frame).cast<double>(),
                          inDouble[f].compute(model, data, same, frame), 1e-3))
          << inFloat[f].name;
    }
  }
}

TEST_P(TermsOfEveryMechanism, AllTermsAreTheSingleOnes) {
  const State<double> s = randomState<double>(4);
  const std::vector<int> frames = someFrames();
  const int n = model.nv();
  for (const Reference reference :
       {Reference::LocalWorldAligned, Reference::Local, Reference::World}) {
    Data data(model);
    const AllTerms<double> terms = allTerms(model, data, s.q, s.v, frames, reference);
    Data other(model);
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(n);
    Eigen::VectorXd x(n), six(6);
    Eigen::MatrixXd H(n, n), A(6, n), J(3, n);
    massMatrix(model, other, s.q, H);
    EXPECT_TRUE(closeTo(terms.H, H, 1e-11));
    inverseDynamics(model, other, s.q, s.v, zero, x);
    EXPECT_TRUE(closeTo(terms.bias, x, 1e-11));
    inverseDynamics(model, other, s.q, zero, zero, x);
    EXPECT_TRUE(closeTo(terms.gravity, x, 1e-11));
    const Vec3<double> center = centerOfMass<double>(model, other, s.q);
    EXPECT_LE(norm(terms.centerOfMass - center), 1e-12);
    centerOfMassJacobian(model, other, s.q, J);
    EXPECT_TRUE(closeTo(terms.centerOfMassJacobian, J, 1e-11));
    centroidalMomentumMatrix(model, other, s.q, A);
    EXPECT_TRUE(closeTo(terms.centroidalMomentumMatrix, A, 1e-11));
    EXPECT_TRUE(closeTo(terms.momentum, A * s.v, 1e-11));
    const Energy e = energy<double>(model, other, s.q, s.v);
    EXPECT_NEAR(terms.energy.kinetic, e.kinetic, 1e-11 * std::max(1.0, e.kinetic));
    EXPECT_NEAR(terms.energy.potential, e.potential, 1e-11 * std::max(1.0, std::abs(e.potential)));
    for (std::size_t f = 0; f < frames.size(); ++f) {
      const auto i = static_cast<Eigen::Index>(f);
      EXPECT_TRUE(closeTo(numbersOf(terms.placements[f]),
                          numbersOf(framePlacement<double>(model, other, s.q, frames[f])), 1e-11));
      frameVelocity(model, other, s.q, s.v, frames[f], six, reference);
      EXPECT_TRUE(closeTo(terms.velocities.col(i), six, 1e-11));
      frameJacobianRate(model, other, s.q, s.v, frames[f], six, reference);
      EXPECT_TRUE(closeTo(terms.jacobianRates.col(i), six, 1e-11));
      frameJacobian(model, other, s.q, frames[f], A, reference);
      EXPECT_TRUE(closeTo(terms.jacobian(i), A, 1e-11));
    }
    EXPECT_EQ(allocationsOf([&] { (void)allTerms(model, data, s.q, s.v, frames, reference); }), 0);
  }
}

TEST_P(TermsOfEveryMechanism, JacobianOfTheCenterOfMassIsItsDerivative) {
  Data data(model);
  const State<double> s = randomState<double>(5);
  Eigen::MatrixXd J(3, model.nv());
  centerOfMassJacobian(model, data, s.q, J);
  const Eigen::VectorXd v = 0.1 * s.v;
  Eigen::VectorXd momenta(6);
  momentum(model, data, s.q, v, momenta);
  Eigen::VectorXd ahead(model.nq()), behind(model.nq());
  constexpr double kStep = 1e-5;
  integrate(model, data, s.q, v, kStep, ahead);
  integrate(model, data, s.q, v, -kStep, behind);
  const Vec3<double> change =
      centerOfMass<double>(model, data, ahead) - centerOfMass<double>(model, data, behind);
  EXPECT_TRUE(closeTo(J * v, Eigen::Vector3d(change.x, change.y, change.z) / (2.0 * kStep), 1e-6));
}

TEST_P(TermsOfEveryMechanism, OutputsMayOverwriteInputs) {
  if (model.nv() != 6) {
    GTEST_SKIP() << "a frame velocity, of six numbers, fits only a v of as many";
  }
  Data data(model), fresh(model);
  const State<double> s = randomState<double>(6);
  Eigen::VectorXd expected(6), v = s.v, later(6);
  frameVelocity(model, fresh, s.q, s.v, 0, expected);
  frameVelocity(model, data, s.q, v, 0, v);
  EXPECT_EQ(v, expected);
  frameVelocity(model, fresh, s.q, v, 0, expected);
  frameVelocity(model, data, s.q, v, 0, later);  // at the velocity that was written
  EXPECT_TRUE(closeTo(later, expected, 1e-12));
}

INSTANTIATE_TEST_SUITE_P(Random, TermsOfEveryMechanism,
                         ::testing::ValuesIn(rigidAndBendingMechanisms()),
                         [](const auto& given) { return given.param.name; });

TEST(AllTerms, OfManyStatesAreThoseOfOne) {
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  for (const char* name : {"mini_cheetah", "tello"}) {
    const Model model = robots::load(name);
    constexpr int kStates = 13;
    const int n = model.nv(), nq = model.nq();
    const std::vector<int> frames{0, static_cast<int>(model.frameNames().size()) - 1};
    const auto room = [](int entries) { return Rows(Rows::Constant(kStates, entries, NAN)); };
    Rows q(kStates, nq), v = Rows::Random(kStates, n);
    for (int k = 0; k < kStates; ++k) {
      q.row(k) = model.randomConfiguration(static_cast<std::uint64_t>(k)).transpose();
    }
    Rows H = room(n * n), bias = room(n), gravity = room(n), center = room(3),
         centerJ = room(3 * n), h = room(6), A = room(6 * n), e = room(2), X = room(24),
         velocities = room(12), J = room(12 * n), rates = room(12);
    Batch batch(model, {.threads = 1});
    allTerms(model, batch, q, v, frames,
             {H, bias, gravity, center, centerJ, h, A, e, X, velocities, J, rates});
    Data data(model);
    for (int k = 0; k < kStates; ++k) {
      const auto terms = allTerms(model, data, q.row(k).transpose(), v.row(k).transpose(), frames);
      const auto rows = [](const auto& matrix) {
        return Eigen::VectorXd(matrix.transpose().reshaped());
      };
      EXPECT_TRUE(closeTo(H.row(k).transpose(), rows(terms.H), 1e-10));
      EXPECT_TRUE(closeTo(bias.row(k).transpose(), terms.bias, 1e-10));
      EXPECT_TRUE(closeTo(gravity.row(k).transpose(), terms.gravity, 1e-10));
      EXPECT_NEAR(center(k, 2), terms.centerOfMass.z, 1e-12);
      EXPECT_TRUE(closeTo(centerJ.row(k).transpose(), rows(terms.centerOfMassJacobian), 1e-10));
      EXPECT_TRUE(closeTo(h.row(k).transpose(), terms.momentum, 1e-10));
      EXPECT_TRUE(closeTo(A.row(k).transpose(), rows(terms.centroidalMomentumMatrix), 1e-10));
      EXPECT_NEAR(e(k, 0), terms.energy.kinetic, 1e-9);
      EXPECT_TRUE(closeTo(X.row(k).tail(12).transpose(), numbersOf(terms.placements[1]), 1e-10));
      EXPECT_TRUE(closeTo(velocities.row(k).transpose(),
                          Eigen::VectorXd(terms.velocities.reshaped()), 1e-10));
      EXPECT_TRUE(closeTo(rates.row(k).transpose(), Eigen::VectorXd(terms.jacobianRates.reshaped()),
                          1e-10));
      EXPECT_TRUE(closeTo(J.row(k).tail(6 * n).transpose(), rows(terms.jacobian(1)), 1e-10));
    }
  }
}

}  // namespace
}  // namespace kempe::test
