// From a path to a mechanism or a model.

#include <gtest/gtest.h>

#include <fstream>

#include "io_testing.hpp"

namespace kempe {
namespace {

namespace fs = std::filesystem;
using io_testing::contains;
using io_testing::robotWith;

/// A folder of its own for each test.
class Folder : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::temp_directory_path() / (std::string("kempe_load_") +
                                     testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  [[nodiscard]] const fs::path& folder() const { return folder_; }

  static std::string errorOfReading(const fs::path& path) {
    try {
      static_cast<void>(readMechanism(path));
    } catch (const ModelError& error) {
      return error.what();
    }
    return {};
  }

 private:
  fs::path folder_;
};

using LoadedFile = Folder;

const std::string unitInertial =
    "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"
    "</inertial>";

TEST_F(LoadedFile, MissingFolderAndUnknownKindsSayWhatIsKnown) {
  const std::string missing = (folder() / "no.urdf").string();
  EXPECT_TRUE(errorOfReading(missing).starts_with(missing + ": cannot be read: "));
  EXPECT_TRUE(contains(errorOfReading(folder()), "is a folder. Name the .urdf"));
  fs::create_directory(folder() / "d.urdf");
  EXPECT_TRUE(contains(errorOfReading(folder() / "d.urdf"), "is a folder. Name a .urdf"));
  EXPECT_TRUE(contains(errorOfReading(write("r.sdf", "")), "the extension \".sdf\" is not known"));
  EXPECT_TRUE(contains(errorOfReading(write("r", "")), "Files end in .urdf"));
  EXPECT_TRUE(contains(errorOfReading(write("r.urdf.xacro", "")), "Expand them first: xacro"));
  EXPECT_TRUE(contains(errorOfReading("/dev/null"), "the extension \"\" is not known"));
  const std::string tooLong(5000, 'x');  // more than a file system takes
  EXPECT_TRUE(contains(errorOfReading(folder() / tooLong), "Files end in .urdf"));
  EXPECT_TRUE(contains(errorOfReading(folder() / (tooLong + ".urdf")), "cannot be read: "));
  EXPECT_TRUE(contains(errorOfReading(folder() / (tooLong + ".yaml")), "cannot be read: "));
}

TEST_F(LoadedFile, TooLargeIsNotRead) {
  const fs::path path = write("large.urdf", "<");
  fs::resize_file(path, (std::uintmax_t{64} << 20) + 1);  // sparse: costs no disk
  EXPECT_TRUE(contains(errorOfReading(path), "has 67108865 bytes; at most 67108864 are read"));
}

TEST_F(LoadedFile, SpecialFilesAreNotRead) {
  fs::create_symlink("/dev/zero", folder() / "zero.urdf");
  EXPECT_TRUE(contains(errorOfReading(folder() / "zero.urdf"), "is not a regular file"));
}

TEST_F(LoadedFile, ErrorsBeginWithThePath) {
  const fs::path path = write("r.URDF", "<robot name='r'>\n<x/></robot>");
  EXPECT_TRUE(errorOfReading(path).starts_with(path.string() + ":2: robot \"r\""));
}

TEST_F(LoadedFile, ClosuresFindTheirRobot) {
  const fs::path yaml = write("arm.yaml", "closed_loop: [[a, c]]\ntype: ['3d']\n");
  EXPECT_TRUE(contains(errorOfReading(yaml), "there are 0 beside it"));
  write("other.urdf", robotWith("<link name='other'/>"));
  EXPECT_EQ(readMechanism(yaml).loops.size(), 1U);  // the only one
  write("more.urdf", robotWith(""));
  EXPECT_TRUE(contains(errorOfReading(yaml), "there are 2 beside it. Put it next to the URDF"));
  write("arm.urdf", robotWith("<link name='mine'/>"));
  const Mechanism mechanism = readMechanism(yaml);  // the one of the same name
  EXPECT_NE(mechanism.findBody("mine"), nullptr);
  EXPECT_EQ(mechanism.source, (folder() / "arm.urdf").string());
  EXPECT_EQ(mechanism.loops.front().type, LoopType::Spherical);
}

TEST_F(LoadedFile, ARobotWithoutItsClosuresSaysSo) {
  const fs::path urdf = write("arm.urdf", robotWith(""));
  EXPECT_TRUE(readMechanism(urdf).warnings.empty());
  write("arm.yaml", "closed_loop: []\n");
  EXPECT_TRUE(readMechanism(urdf).warnings.empty());  // it closes nothing
  write("arm.yaml", "nothing: [of, the, kind\n");
  EXPECT_TRUE(readMechanism(urdf).warnings.empty());
  const fs::path yaml = write("arm.yaml", "closed_loop: [[a, c]]\ntype: ['3d']\n");
  const Mechanism alone = readMechanism(urdf);
  ASSERT_EQ(alone.warnings.size(), 1U);
  EXPECT_TRUE(contains(alone.warnings[0], urdf.string() + ": the file \"" + yaml.string() +
                                              "\" has closures for this robot"));
  EXPECT_TRUE(readMechanism(yaml).warnings.empty());
}

TEST_F(LoadedFile, ClosuresCalledRobotBelongToTheOnlyRobot) {
  const fs::path urdf = write("talos.urdf", robotWith(""));
  write("robot.yaml", "closed_loop: [[a, c]]\ntype: ['3d']\n");
  EXPECT_EQ(readMechanism(urdf).warnings.size(), 1U);
  write("other.urdf", robotWith(""));  // now nobody knows whose they are
  EXPECT_TRUE(readMechanism(urdf).warnings.empty());
}

TEST_F(LoadedFile, AStartPoseIsAddedToThatOfTheFile) {
  const fs::path path = write("r.urdf", robotWith("<link name='d'>" + unitInertial +
                                                  "</link><joint name='cd' type='continuous' "
                                                  "start_pose='0.5'><parent link='c'/>"
                                                  "<child link='d'/></joint>"));
  const Model model = load(path, {.startPose = {{"ab", {0.25}}}});
  const std::map<std::string, std::vector<double>> expected{{"ab", {0.25}}, {"cd", {0.5}}};
  EXPECT_EQ(model.mechanism().startPose, expected);
  EXPECT_THROW(load(path, {.startPose = {{"nobody", {0.25}}}}), ModelError);
}

TEST_F(LoadedFile, NamesThatAreNotUtf8AreShownWithQuestionMarks) {
  EXPECT_TRUE(contains(errorOfReading(folder() / "a\xff.urdf"), "a?.urdf: cannot be read"));
  EXPECT_EQ(readMechanism(write("b\xff.urdf", robotWith(""))).source,
            (folder() / "b?.urdf").string());
}

TEST_F(LoadedFile, FloatingBaseAddsSixFreedoms) {
  const fs::path path =
      write("r.urdf", robotWith("<link name='h'>" + unitInertial +
                                "</link><joint name='ha' type='fixed'><parent link='h'/>"
                                "<child link='a'/></joint>"));
  EXPECT_EQ(load(path).nv(), 2);
  EXPECT_EQ(load(path, {.floatingBase = true}).nv(), 8);
}

TEST_F(LoadedFile, ABaseThatIsFreeStaysAsItIs) {
  const fs::path path =
      write("r.urdf", robotWith("<link name='w'/><link name='base'>" + unitInertial +
                                "</link><joint name='free' type='floating'><parent link='w'/>"
                                "<child link='base'/></joint><joint name='mount' type='fixed'>"
                                "<parent link='base'/><child link='a'/></joint>"));
  const Model model = load(path, {.floatingBase = true});
  EXPECT_EQ(model.nv(), 8);
  EXPECT_TRUE(std::ranges::any_of(model.warnings(), [](const std::string& warning) {
    return contains(warning, "the base is already free");
  }));
}

}  // namespace
}  // namespace kempe
