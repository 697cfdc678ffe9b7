#include <fstream>

#include "io/io_testing.hpp"
#include "kempe/matrix_files.hpp"

namespace kempe {
namespace {

using io_testing::contains;

TEST(MatrixFiles, CoordinatesAndArraysAreRead) {
  const Eigen::MatrixXd expected{{1.5, -2.0, 0.0}, {-2.0, 4.0, 1e-3}, {0.0, 1e-3, 7.0}};
  for (const char* text :
       {"%%MatrixMarket matrix coordinate real symmetric\n% by hand\n\n3 3 5\n1 1 1.5\n2 1 -2\n2 2 "
        "4e0\n3 2 0.001\n3 3 7",
        "%%matrixmarket MATRIX Coordinate Double General\n3 3 8\n1 1 1\n1 1 0.5\n2 1 -2\n1 2 -2\n"
        "2 2 4\n3 2 1e-3\n2 3 1e-3\n3 3 7\n\n",
        "%%MatrixMarket matrix array real general\r\n3 3\r\n1.5\r\n-2\r\n0\r\n-2\r\n4\r\n1e-3\r\n"
        "0\r\n1e-3\r\n7\r\n",
        "%%MatrixMarket matrix array real symmetric\n3 3\n1.5 -2 0\n4 1e-3\n% the last\n7\n"}) {
    EXPECT_EQ(Eigen::MatrixXd(readMatrixText(text).matrix()), expected) << text;
  }
  EXPECT_EQ(
      readMatrixText("%%MatrixMarket matrix coordinate integer general\n2 5 2\n1 5 3\n2 1 1\n")
          .matrix()
          .coeff(0, 4),
      3.0);
}

std::string matrixError(const std::string& text) {
  try {
    static_cast<void>(readMatrixText(text, "K.mtx"));
  } catch (const ModelError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(MatrixFiles, ErrorsNameTheLine) {
  const std::string coordinate = "%%MatrixMarket matrix coordinate real symmetric\n",
                    array = "%%MatrixMarket matrix array real general\n";
  const auto expect = [](const std::string& text, const char* place, const char* reason) {
    const std::string error = matrixError(text);
    EXPECT_TRUE(contains(error, place) && contains(error, reason)) << error;
  };
  expect("", "K.mtx", "no Matrix Market file");
  expect("1 2 3\n", "K.mtx:1", "no Matrix Market file");
  expect("%%MatrixMarket matrix coordinate complex symmetric\n", "K.mtx:1", "\"complex\"");
  expect("%%MatrixMarket matrix coordinate pattern symmetric\n", "K.mtx:1", "\"pattern\"");
  expect("%%MatrixMarket matrix coordinate real hermitian\n", "K.mtx:1", "\"hermitian\"");
  expect("%%MatrixMarket vector array real general\n", "K.mtx:1", "no Matrix Market file");
  expect(coordinate + "3 3\n1 1 1\n", "K.mtx:2", "numbers of rows, columns and entries");
  expect(coordinate + "3 -3 1\n1 1 1\n", "K.mtx:2", "\"-3\" is no size");
  expect(coordinate + "3 2 1\n1 1 1\n", "K.mtx:2", "must be square");
  expect(coordinate + "2147483647 2147483647 1\n1 1 1\n", "K.mtx:2", "too short");
  expect(coordinate + "2 2 2000000000\n1 1 1\n", "K.mtx:2", "too short");
  expect(coordinate + "99999999999 1 1\n", "K.mtx:2", "no size");
  expect(array + "2147483647 2147483647\n1\n", "K.mtx:2", "too short");
  expect(array + "60000 1\n1\n", "K.mtx:2", "too short");
  expect(coordinate + "2 2 3\n1 1 1.000\n2 2 1.000\n", "K.mtx:4", "ends after 2 of 3");
  expect(coordinate + "2 2 1\n1 1.00\n", "K.mtx:3", "a row, a column and a number");
  expect(coordinate + "2 2 1\n0 1 1.0\n", "K.mtx:3", "\"0\" is no row");
  expect(coordinate + "2 2 1\n1 3 1.0\n", "K.mtx:3", "\"3\" is no column");
  expect(coordinate + "2 2 1\n1 2 1.0\n", "K.mtx:3", "above the diagonal");
  expect(coordinate + "2 2 1\n1 1 nan\n", "K.mtx:3", "\"nan\" is no finite number");
  expect(coordinate + "2 2 1\n1 1 1e999\n", "K.mtx:3", "no finite number");
  expect(coordinate + "2 2 1\n1 1 1.0\n2 2 1.0\n", "K.mtx:4", "more than the matrix has");
  expect(array + "2 2\n1 2\n3\n", "K.mtx:4", "ends in column 2");
  expect(array + "2 2\n1 2 3 4 5\n", "K.mtx:3", "more numbers");
}

TEST(MatrixFiles, NodesAreRead) {
  const Eigen::MatrixXd expected{{0, 0, 0}, {0.5, -1, 2}};
  for (const char* text : {"0,0,0\n0.5,-1,2\n", "x, y, z\n0 0 0\n\n# the end\n.5 ; -1.0; 2e0",
                           "name,x,y,z\nhub,0,0,0\ntip,0.5,-1,2\n"}) {
    EXPECT_EQ(readNodesText(text).positions(), expected) << text;
  }
  EXPECT_EQ(readNodesText("hub 0 0 0\ntip 1 0 0\n").names,
            (std::vector<std::string>{"hub", "tip"}));
  EXPECT_EQ(readNodesText("").positions().rows(), 0);
  const auto error = [](const char* text) -> std::string {
    try {
      static_cast<void>(readNodesText(text, "nodes.csv"));
    } catch (const ModelError& failure) {
      return failure.what();
    }
    return "accepted";
  };
  EXPECT_TRUE(contains(error("0,0,0\n1,2\n"), "nodes.csv:2: a node is x, y and z"));
  EXPECT_TRUE(contains(error("a,0,0,0\n1,2,3\n"), "nodes.csv:2: a node is a name"));
  EXPECT_TRUE(contains(error("0,0,0\n1,2,nan\n"), "\"nan\" is no finite number"));
}

/// Two point-like bodies on a bar, with their matrices beside the URDF.
class ElementFiles : public ::testing::Test {
 protected:
  ElementFiles() {
    std::filesystem::create_directories(folder_ / "meshes");
    // A beam of one element: rows of two nodes. Only axial, torsion and bending springs.
    Eigen::MatrixXd K = Eigen::MatrixXd::Zero(12, 12), M = K;
    for (const auto& [row, k] : {std::pair{0, 1e6}, {3, 100.0}}) {
      K(row, row) = K(row + 6, row + 6) = k;
      K(row, row + 6) = K(row + 6, row) = -k;
    }
    const Eigen::Matrix4d bending{{12, 6, -12, 6}, {6, 4, -6, 2}, {-12, -6, 12, -6}, {6, 2, -6, 4}};
    const int y[] = {1, 5, 7, 11}, z[] = {2, 4, 8, 10}, sign[] = {1, -1, 1, -1};
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        K(y[i], y[j]) += 900.0 * bending(i, j);
        K(z[i], z[j]) += 900.0 * sign[i] * sign[j] * bending(i, j);
      }
    }
    for (int node = 0; node < 2; ++node) {
      M.diagonal().segment<3>(6 * node).setConstant(0.5);
      M.diagonal().segment<3>(6 * node + 3).setConstant(1e-3);
    }
    write("meshes/K.mtx", marketText(K));
    write("meshes/M.mtx", marketText(M));
    write("meshes/nodes.csv", "name,x,y,z\nhub,0,0,0\ntip,1,0,0\n");
  }
  ~ElementFiles() override { std::filesystem::remove_all(folder_); }

  static std::string marketText(const Eigen::MatrixXd& matrix) {
    std::string text = "%%MatrixMarket matrix array real general\n12 12\n";
    for (const double number : matrix.reshaped()) {
      text += std::to_string(number) + "\n";
    }
    return text;
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] Mechanism robot(const std::string& attributes) const {
    write("robot.urdf",
          "<robot name=\"r\"><link name=\"world\"/>\n<link name=\"rod\">"
          "<flexible nodes=\"meshes/nodes.csv\" stiffness=\"meshes/K.mtx\" " +
              attributes +
              "/></link>\n<joint name=\"hinge\" type=\"continuous\"><parent "
              "link=\"world\"/><child link=\"rod\"/></joint></robot>");
    return readMechanism(folder_ / "robot.urdf");
  }
  [[nodiscard]] std::string error(const std::string& attributes) const {
    try {
      static_cast<void>(robot(attributes));
    } catch (const ModelError& failure) {
      return failure.what();
    }
    return "accepted";
  }

  std::filesystem::path folder_ = std::filesystem::temp_directory_path() / "kempe_element_files";
};

TEST_F(ElementFiles, AreThoseOfALink) {
  const Mechanism mechanism =
      robot("mass=\"meshes/M.mtx\" modes=\"3\" interface=\"hub\" damping=\"0.01\" keep=\"tip\"");
  ASSERT_EQ(mechanism.flexibleBodies.size(), 1u);
  const FlexibleBody& rod = mechanism.flexibleBodies.front();
  EXPECT_EQ(rod.nodes.size(), 2u);
  EXPECT_NE(rod.findNode("tip"), nullptr);
  EXPECT_NEAR(rod.rigid.mass, 1.0, 1e-9);
  // A mass at the end of a spring of 3 EI / L³, but for its rotational inertia.
  EXPECT_NEAR(rod.modes[0].frequency(), std::sqrt(3 * 900.0 / 0.5) / (2 * M_PI), 0.1);
  EXPECT_EQ(Model(mechanism).nv(), 4);
  EXPECT_THROW(static_cast<void>(writeUrdfText(mechanism)), ModelError);
}

TEST_F(ElementFiles, ThatAreWrongAreNamed) {
  EXPECT_TRUE(contains(error("mass=\"meshes/none.mtx\""), "none.mtx: cannot be read"));
  EXPECT_TRUE(contains(error("mass=\"meshes\""), "is a folder"));
  EXPECT_TRUE(contains(error("mass=\"M.npz\""), "Convert it"));
  const std::string good = "mass=\"meshes/M.mtx\" ";
  EXPECT_TRUE(contains(error(good + "interface=\"end\""), "no node or <set> \"end\""));
  EXPECT_TRUE(contains(error(good + "modes=\"7\""), "robot.urdf:2: flexible body \"rod\": modes"));
  const Mechanism odd = robot(good + "length=\"1\"");
  ASSERT_EQ(odd.warnings.size(), 1u);
  EXPECT_TRUE(contains(odd.warnings.front(), "length"));
  EXPECT_TRUE(contains(error(good + "interface=\"0 2\""), "node 2, which does not exist"));
  write("meshes/M.mtx", "%%MatrixMarket matrix array real general\n12 12\n1\n");
  EXPECT_TRUE(contains(error(good), "M.mtx:2: the file is too short"));
}

}  // namespace
}  // namespace kempe
