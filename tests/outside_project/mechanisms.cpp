#include <filesystem>
#include <sstream>

#include "check.hpp"

namespace {

/// A planar leg with a gear, a belt, a loop joint and a function.
kempe::Mechanism built() {
  kempe::Mechanism robot("built");
  for (const char* name : {"base", "thigh", "shank", "rotor", "wheel"}) {
    robot.addBody(name).withMass(1.0).centeredAt({0.1, 0, 0}).withInertia(0.01, 0.01, 0.01);
  }
  robot.addRevolute("hip").from("base").to("thigh").about({0, 1, 0});
  robot.addRevolute("knee").from("thigh").to("shank").at({0.3, 0, 0}).about({0, 1, 0});
  robot.addRevolute("motor").from("base").to("rotor").about({0, 1, 0});
  robot.addJoint("spin", kempe::JointType::Continuous).from("thigh").to("wheel").about({0, 1, 0});
  robot.addCoupling("gear").plus(1.0, "motor").minus(6.0, "hip");
  robot.addBelt("belt", "wheel", 1.0, "shank");
  return robot;
}

}  // namespace

namespace {

void checkExpressions() {
  const kempe::Expression f = kempe::trace(2, 1, [](const auto& x, auto& y) {
    y[0] = select(x[0] < x[1], sin(x[0]) * x[1], x[0] / x[1]);
  });
  const std::vector<std::string> names{"a", "b"};
  check(kempe::Expression::parse(f.text(names), names) == f, "a formula as text");
  check(f.text() == "select(x0 < x1, sin(x0) * x1, x0 / x1)", "a printed formula");
  const std::vector<double> at{1.0, -2.0};
  check(f(at)[0] == -0.5 && f.derivative(0)(at)[0] == -0.5 && f.jacobian()(at)[1] == -0.25,
        "an expression and its derivatives");
  const std::vector<double> moving{1.0, -2.0, 4.0, 0.0};
  check(f.rate()(moving)[0] == -2.0, "the rate of an expression");
  const auto branch = [](const auto& x, auto& y) { y[0] = x[0] < x[1] ? x[0] : x[1]; };
  check(throws<kempe::TracingError>([&] { kempe::trace(2, 1, branch); }), "TracingError");
  const auto equal = [](const auto& x, auto& y) { y[0] = x[0] == x[1] ? x[0] : x[1]; };
  check(throws<kempe::TracingError>([&] { kempe::trace(2, 1, equal); }), "comparing symbols");
}

}  // namespace

void checkMechanisms() {
  checkExpressions();
  kempe::Mechanism robot = built();
  check(robot.validate().empty(), "a mechanism without warnings");
  check(robot.findBody("shank") != nullptr && robot.findJoint("knee") != nullptr, "finding");
  check(robot.jointAbove("shank")->name == "knee", "the joint above");
  check(robot.place().empty(), "a mechanism from no file");
  check(kempe::toString(kempe::JointType::Revolute) == "revolute", "names of joint types");
  check(kempe::toString(kempe::LoopType::Revolute) == "revolute", "names of loop types");

  const std::string text = kempe::writeUrdfText(robot);
  check(kempe::readUrdfText(text).joints.size() == robot.joints.size(), "URDF text");
  const auto path = std::filesystem::temp_directory_path() / "kempe_outside_project.urdf";
  kempe::writeUrdf(robot, path);
  check(kempe::readMechanism(path).bodies.size() == robot.bodies.size(), "a URDF file");
  check(kempe::load(path).nv() == 2, "a model from a file");
  std::filesystem::remove(path);

  kempe::Mechanism open("open");
  open.addBody("a");
  open.addBody("b").withMass(1.0).withInertia(1, 1, 1);
  open.addBody("c").withMass(1.0).withInertia(1, 1, 1);
  open.addRevolute("one").from("a").to("b").about({0, 0, 1});
  open.addRevolute("two").from("a").to("c").at({1, 0, 0}).about({0, 0, 1});
  kempe::Mechanism rod = open;
  rod.addRod("rod").from("b", {0, 1, 0}).to("c", {0, 1, 0}).ofLength(1.0);
  check(kempe::Model(rod).nv() == 1, "a rod");
  kempe::Mechanism loop = open;
  loop.addLoop("loop", kempe::LoopType::Spherical).from("b").to("c");
  check(loop.place(loop.loops.front()).empty(), "a loop from no file");
  check(throws<kempe::ModelError>([&] { kempe::Model model(loop); }), "ModelError");
  kempe::Mechanism geared = open;
  geared.addGear("gear", "two", 6.0, "one");
  check(kempe::Model(geared).nv() == 1, "a gear");
  kempe::Mechanism function = open;
  function.addFunction("equal", {"one", "two"}, 1,
                       [](const auto& q, auto& phi) { phi[0] = q[0] - q[1]; });
  check(function.functions.front().traced().text() == "x0 - x1", "the formula of a function");
  check(kempe::Model(function).nv() == 1, "a function");
  kempe::Mechanism closed = open;
  kempe::addClosuresFromYamlText(closed, "closed_loop: [[b, c]]\ntype: [6d]\n");
  check(closed.loops.size() == 1, "YAML closures");
  open.addFloatingBase();
  check(kempe::Model(open).nv() == 8, "a floating base");
  check(throws<kempe::ModelError>([] { kempe::readUrdfText("<robot"); }), "ModelError of a reader");

  namespace robots = kempe::robots;
  for (const kempe::Mechanism& bundled :
       {robots::miniCheetah(), robots::mitHumanoid(), robots::mitHumanoidLeg(), robots::tello(),
        robots::jvrc1(), robots::fourBar(), robots::sixBar(), robots::fiveBar(),
        robots::planarLeg(), robots::gearedChain(4), robots::beltChain(4)}) {
    check(!bundled.bodies.empty(), bundled.name);
  }
  check(robots::names().size() == 11, "names of robots");
  check(robots::mechanism("tello").name == robots::tello().name, "a robot by name");
}

void checkFlexibleBodies() {
  kempe::BeamOptions beam{
      .length = 1.0, .E = 7e10, .density = 2700, .area = 1e-4, .Iy = 1e-9, .Iz = 1e-9};
  beam.interface = {"end"};
  kempe::Mechanism robot("flexible");
  robot.addBody("world");
  const kempe::FlexibleBody& rod = robot.addBeam("rod", beam);
  check(rod.modes.front().frequency() > 0.0 && rod.findNode("end") != nullptr, "a beam");
  const std::vector<kempe::BeamElement> elements = kempe::beamElements(rod);
  check(elements.size() + 1 == rod.nodes.size() && elements.front().stiffness.front() > 0.0,
        "elements of a beam");
  check(kempe::beamAxes(beam).column(2).z == 1.0, "axes of a beam");
  robot.addFixed("clamp").from("world").to("rod");
  robot.addFlexibleBody(kempe::reduceBeam("twig", beam));
  robot.addRevolute("hinge").from("rod", "end").to("twig").about({0, 1, 0});
  const kempe::Model model(robot);
  kempe::Data data(model);
  Eigen::VectorXd q = model.neutral(), bent = q;
  kempe::staticDeflection(model, data, q, Eigen::VectorXd::Zero(model.nv()), bent);
  check(bent.norm() > 0.0 && bent.allFinite(), "static deflection");
  const Eigen::MatrixXd none = Eigen::MatrixXd::Zero(6, 6), node = Eigen::MatrixXd::Zero(1, 3);
  check(throws<kempe::ModelError>(
            [&] { (void)kempe::reduceFiniteElements("block", node, none, none); }),
        "dense matrices of finite elements");
  const Eigen::SparseMatrix<double> sparse(6, 6);
  check(throws<kempe::ModelError>(
            [&] { (void)kempe::reduceFiniteElements("block", node, sparse, sparse); }),
        "sparse matrices of finite elements");
}

void checkMatrixFiles() {
  const char* text = "%%MatrixMarket matrix coordinate real symmetric\n9 9 2\n2 1 3\n9 9 4\n";
  const Eigen::SparseMatrix<double> matrix = kempe::readMatrixText(text).matrix();
  check(matrix.rows() == 9 && matrix.nonZeros() == 3 && matrix.coeff(0, 1) == 3.0, "a matrix");
  const kempe::NodeTable nodes = kempe::readNodesText("root 0 0 0\ntip 1 2 3\n");
  const Eigen::MatrixXd positions = nodes.positions();
  check(nodes.names.back() == "tip" && positions(1, 2) == 3.0, "nodes");
  check(throws<kempe::ModelError>([] { (void)kempe::readMatrix("missing.mtx"); }), "no matrix");
  check(throws<kempe::ModelError>([] { (void)kempe::readNodes("missing.csv"); }), "no nodes");
}

void checkModels() {
  const kempe::Model model = kempe::robots::load("tello");
  check(model.name() == model.mechanism().name && model.options().foldRotors, "what it is made of");
  check(model.gravity().z < 0 && model.totalMass() > 1.0, "gravity and mass");
  check(model.warnings().empty() && model.cutLoops().empty(), "nothing odd");
  check(static_cast<int>(model.qNames().size()) == model.nq(), "qNames");
  check(static_cast<int>(model.vNames().size()) == model.nv(), "vNames");
  check(static_cast<int>(model.spanningPositionNames().size()) == model.nqSpanning(), "positions");
  check(static_cast<int>(model.spanningVelocityNames().size()) == model.nvSpanning(), "velocities");
  check(static_cast<int>(model.loopRowNames().size()) == model.nLoopRows(), "loop rows");
  check(model.bodyNames().size() == model.jointNames().size(), "a joint for each body");
  check(!model.clusters().empty() && !model.loops().empty() && !model.foldedRotors().empty(),
        "clusters");
  check(model.nLoopForces() > 0, "loop forces");
  check(model.actuated().size() <= model.spanningVelocityNames().size(), "actuated joints");
  check(model.frameNames()[static_cast<std::size_t>(model.frameIndex(model.frameNames().back()))] ==
            model.frameNames().back(),
        "frames");
  check(model.jointPositionIndex(model.jointNames().front()) == 0 &&
            model.jointVelocityIndex(model.jointNames().front()) == 0,
        "indices of joints");
  std::ostringstream text;
  text << model;
  check(!text.str().empty(), "a printed model");
  check(throws<std::invalid_argument>([&] { (void)model.frameIndex("no such frame"); }),
        "std::invalid_argument");

  // Vectors that the library has allocated are copied, changed and freed here.
  const Eigen::VectorXd q = model.randomConfiguration(1);
  auto again = model.randomConfiguration(1);
  check(q == again && again.size() == model.nq(), "the same seed");
  again = 2.0 * again;
  again += q;
  again = again.head(3).eval();
  check((again - 3.0 * q.head(3)).norm() < 1e-12, "arithmetic");
  const auto& neutral = model.neutral();
  Eigen::VectorXd copy = neutral;
  copy *= 2.0;
  check(copy.norm() == 2.0 * neutral.norm(), "neutral");

  const kempe::Model leg = kempe::robots::load("planar_leg");
  check(leg.withIndependent(leg.vNames()).nv() == leg.nv(), "other coordinates");
}
