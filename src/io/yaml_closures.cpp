#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/messages.hpp"
#include "io/names.hpp"
#include "io/numbers.hpp"
#include "io/text.hpp"
#include "io/yaml_document.hpp"
#include "kempe/errors.hpp"
#include "kempe/io.hpp"

namespace kempe {
namespace io {
namespace {

using Kind = YamlValue::Kind;

constexpr std::array<std::string_view, 7> keys{"closed_loop", "type",       "cut",       "name_mot",
                                               "joint_name",  "joint_type", "start_pose"};

/// Reads the closures; everything is checked before the mechanism is changed.
class ClosureReader {
 public:
  ClosureReader(Mechanism& mechanism, const std::string& source)
      : mechanism_(mechanism), source_(source), warnings_(source), joints_(mechanism.joints) {
    for (std::size_t i = 0; i < joints_.size(); ++i) {
      jointByName_.emplace(joints_[i].name, i);
    }
  }

  void read(const YamlValue& file) {
    if (file.kind != Kind::Map) {
      fail(std::max(file.line, 1),
           "the file is not a map of keys. Write closed_loop: [[frame, frame]].");
    }
    std::map<std::string_view, const YamlValue*> given;
    for (std::size_t i = 0; i < file.keys.size(); ++i) {
      const YamlValue& key = file.keys[i];
      if (std::ranges::find(keys, key.text) == keys.end()) {
        reportUnknownKey(key);
      } else {
        given.emplace(key.text, &file.items[i]);
      }
    }
    const auto value = [&](std::string_view key) {
      const auto it = given.find(key);
      return it == given.end() ? nullptr : it->second;
    };
    if (value("closed_loop") == nullptr) {
      fail(file.line, "there is no key \"closed_loop\". Write closed_loop: [[frame, frame]].");
    }
    readJointTypes(value("joint_name"), value("joint_type"));
    readClosures(*value("closed_loop"), value("type"));
    if (const YamlValue* cuts = value("cut")) {
      readCuts(*cuts);
    }
    if (const YamlValue* motors = value("name_mot")) {
      readMotors(*motors);
    }
    if (const YamlValue* start = value("start_pose")) {
      readStartPose(*start);
    }
    std::ranges::move(joints_, mechanism_.joints.begin());  // references to them stay valid
    std::ranges::move(loops_, std::back_inserter(mechanism_.loops));
    for (const std::string& joint : retyped_) {
      mechanism_.startPose.erase(joint);
    }
    for (auto& [joint, positions] : startPose_) {
      mechanism_.startPose[joint] = std::move(positions);
    }
    std::ranges::move(warnings_.messages(), std::back_inserter(mechanism_.warnings));
  }

 private:
  [[noreturn]] void fail(int line, const std::string& reason) const {
    throw ModelError(placeOf(source_, line) + reason);
  }

  /// A key that resembles one of ours is a slip; others belong to other programs.
  void reportUnknownKey(const YamlValue& key) {
    const std::string meant = suggestion(key.text, {keys.begin(), keys.end()});
    if (!meant.empty()) {
      fail(key.line, "the key " + inQuotes(key.text) + " is not known." + meant +
                         " The keys are closed_loop, type, cut, name_mot, joint_name, joint_type, "
                         "start_pose.");
    }
    warnings_.add(key.line, "the key " + inQuotes(key.text) + " is not known and is ignored.");
  }

  const std::vector<YamlValue>& list(const YamlValue& value, std::string_view what) const {
    if (value.kind != Kind::List) {
      fail(value.line, std::string(what) + " is not a list. Write it in [brackets].");
    }
    return value.items;
  }

  const std::string& word(const YamlValue& value, std::string_view what) const {
    if (value.kind != Kind::Text || value.text.empty()) {
      fail(value.line, std::string(what) + " is not a name. Write one word.");
    }
    return value.text;
  }

  void readClosures(const YamlValue& pairs, const YamlValue* types) {
    const auto& closures = list(pairs, "closed_loop");
    if (types == nullptr) {
      warnings_.add(pairs.line, "there is no key \"type\"; every closure is taken as '6d'.");
    } else if (list(*types, "type").size() != closures.size()) {
      fail(types->line, "type has " + std::to_string(types->items.size()) + " entries for the " +
                            std::to_string(closures.size()) +
                            " pairs of closed_loop. Write one '6d' or '3d' for each pair.");
    }
    for (std::size_t i = 0; i < closures.size(); ++i) {
      addClosure(closures[i], types == nullptr ? nullptr : &types->items[i]);
    }
  }

  /// One true (left cut) or false (embedded) for each pair.
  void readCuts(const YamlValue& cuts) {
    const auto& values = list(cuts, "cut");
    if (values.size() != loops_.size()) {
      fail(cuts.line, "cut has " + std::to_string(values.size()) + " entries for the " +
                          std::to_string(loops_.size()) +
                          " pairs of closed_loop. Write one true or false for each pair.");
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string& name = word(values[i], "an entry of cut");
      if (name != "true" && name != "false") {
        fail(values[i].line,
             "the entry " + inQuotes(name) + " of cut is not known. Write true or false.");
      }
      loops_[i].cut = name == "true";
    }
  }

  void addClosure(const YamlValue& pair, const YamlValue* type) {
    const auto& frames = list(pair, "an entry of closed_loop");
    if (frames.size() != 2) {
      fail(pair.line, "an entry of closed_loop has " + std::to_string(frames.size()) +
                          " frames. Write two, [frame, frame].");
    }
    LoopJoint loop;
    loop.line = pair.line;
    loop.source = source_;
    loop.type = type == nullptr ? LoopType::Fixed : typeOf(*type);
    loop.from(bodyOf(frames[0])).to(bodyOf(frames[1]));
    loop.name = unusedName(frames[0].text + "-" + frames[1].text);
    if (loop.predecessor.body == loop.successor.body) {
      fail(pair.line, "frames " + inQuotes(frames[0].text) + " and " + inQuotes(frames[1].text) +
                          " are on the same link " + inQuotes(loop.successor.body) +
                          ". Name frames of two links.");
    }
    loops_.push_back(std::move(loop));
  }

  LoopType typeOf(const YamlValue& value) const {
    const std::string name = lowerCase(word(value, "an entry of type"));
    if (name != "6d" && name != "3d") {
      fail(value.line, "the type " + inQuotes(name) +
                           " is not known. Write '6d' (position and orientation) or '3d' "
                           "(position).");
    }
    return name == "6d" ? LoopType::Fixed : LoopType::Spherical;
  }

  /// The link whose frame a name stands for: its own, or that of the joint above it.
  std::string bodyOf(const YamlValue& value) const {
    const std::string& name = word(value, "a frame of closed_loop");
    const Body* const body = mechanism_.findBody(name);
    const Joint* const joint = mechanism_.findJoint(name);
    if (body == nullptr && joint == nullptr) {
      std::vector<std::string_view> known = namesOf(mechanism_.joints);
      std::ranges::copy(namesOf(mechanism_.bodies), std::back_inserter(known));
      fail(value.line, isMissing("link or joint", name, known));
    }
    if (body != nullptr && joint != nullptr && joint->child != body->name) {
      fail(value.line, inQuotes(name) + " is both a link and a joint above link " +
                           inQuotes(joint->child) + ". Rename one of them in the URDF.");
    }
    return body != nullptr ? body->name : joint->child;
  }

  /// The name of a loop, with a number where another one has it.
  std::string unusedName(const std::string& wanted) const {
    std::string name = wanted;
    const auto isTaken = [&] {
      return isLoopName(mechanism_, name) ||
             std::ranges::find(loops_, name, &LoopJoint::name) != loops_.end();
    };
    for (int i = 2; isTaken(); ++i) {
      name = wanted + "_" + std::to_string(i);
    }
    return name;
  }

  Joint* findJoint(const std::string& name) {
    const auto it = jointByName_.find(name);
    return it == jointByName_.end() ? nullptr : &joints_[it->second];
  }

  /// Joints that URDF cannot describe and that the collection gives another type.
  void readJointTypes(const YamlValue* names, const YamlValue* types) {
    if (names == nullptr && types == nullptr) {
      return;
    }
    if (names == nullptr || types == nullptr) {
      fail((names == nullptr ? types : names)->line,
           std::string("there is no key ") + (names == nullptr ? "joint_name" : "joint_type") +
               " to go with this one. joint_name and joint_type are lists of the same length.");
    }
    const auto& joints = list(*names, "joint_name");
    if (list(*types, "joint_type").size() != joints.size()) {
      fail(types->line, "joint_type has " + std::to_string(types->items.size()) +
                            " entries for the " + std::to_string(joints.size()) +
                            " of joint_name. Write one type for each joint.");
    }
    for (std::size_t i = 0; i < joints.size(); ++i) {
      const std::string& name = word(joints[i], "an entry of joint_name");
      const std::string& type = word(types->items[i], "an entry of joint_type");
      if (!retyped_.insert(name).second) {
        fail(joints[i].line,
             "joint_name: joint " + inQuotes(name) + " is named twice. Remove one of the two.");
      }
      Joint unknown;  // the type is checked all the same
      Joint* const joint = findJoint(name);
      setType(joint == nullptr ? unknown : *joint, type, types->items[i].line);
      if (joint == nullptr) {
        constexpr int mostSuggestions = 20;  // a long list of strangers must not take long
        const std::vector<std::string_view> known =
            ++strangers_ > mostSuggestions ? std::vector<std::string_view>{} : namesOf(joints_);
        warnings_.add(joints[i].line, "joint_name: there is no joint " + inQuotes(name) +
                                          "; the entry is ignored." + suggestion(name, known));
      } else if (mechanism_.startPose.contains(name)) {
        warnings_.add(joints[i].line, "joint_name: the start pose of joint " + inQuotes(name) +
                                          " in the URDF is for another type and is ignored.");
      }
    }
  }

  void setType(Joint& joint, const std::string& type, int line) const {
    constexpr std::array<Vector3, 3> axes{Vector3{1, 0, 0}, Vector3{0, 1, 0}, Vector3{0, 0, 1}};
    constexpr std::string_view prefix = "ujoint_";
    const std::string name = lowerCase(type);
    joint.limits.lower = Limits{}.lower;
    joint.limits.upper = Limits{}.upper;
    if (name == "spherical") {
      joint.type = JointType::Spherical;
    } else if (name == "fixed") {
      joint.type = JointType::Fixed;
    } else {
      const auto axisAt = [&](std::size_t i) {
        return i < name.size() ? std::string_view("xyz").find(name[i]) : std::string_view::npos;
      };
      const std::size_t first = axisAt(prefix.size()), second = axisAt(prefix.size() + 1);
      if (!name.starts_with(prefix) || name.size() != prefix.size() + 2 || first > 2 ||
          second > 2 || first == second) {
        fail(line, "joint_type: the type " + inQuotes(type) +
                       " is not known. Write SPHERICAL, FIXED, or UJOINT_ and two different axes, "
                       "such as UJOINT_XY.");
      }
      joint.type = JointType::Universal;
      joint.about(axes[first]).thenAbout(axes[second]);
    }
  }

  /// Motors are actuated; they are wanted as independent coordinates, and nothing else that moves
  /// is, except a free base.
  void readMotors(const YamlValue& motors) {
    for (Joint& joint : joints_) {
      if (joint.type != JointType::Fixed && joint.type != JointType::Free) {
        joint.dependent();
      }
      joint.actuation.reset();
    }
    for (const YamlValue& value : list(motors, "name_mot")) {
      const std::string& name = word(value, "an entry of name_mot");
      Joint* const joint = findJoint(name);
      if (joint == nullptr) {
        fail(value.line, "name_mot: " + isMissing("joint", name, namesOf(mechanism_.joints)));
      }
      if (joint->type == JointType::Fixed) {
        fail(value.line, "name_mot: joint " + inQuotes(name) +
                             " is fixed and cannot be a motor. Remove it from the list.");
      }
      if (joint->actuation) {
        fail(value.line,
             "name_mot: joint " + inQuotes(name) + " is named twice. Remove one of the two.");
      }
      joint->actuated().independent();
    }
  }

  /// joint: value, or joint: [values] where it has several positions.
  void readStartPose(const YamlValue& start) {
    if (start.kind != Kind::Map) {
      fail(start.line, "start_pose is not a map. Write start_pose: {joint: position}.");
    }
    for (std::size_t i = 0; i < start.keys.size(); ++i) {
      const std::string& name = start.keys[i].text;
      const YamlValue& value = start.items[i];
      const Joint* const joint = findJoint(name);
      if (joint == nullptr) {
        fail(start.keys[i].line,
             "start_pose: " + isMissing("joint", name, namesOf(mechanism_.joints)));
      }
      std::vector<double> positions;
      const auto add = [&](const YamlValue& item) {
        const std::optional<double> number =
            item.kind == Kind::Text ? parseNumber(item.text) : std::nullopt;
        if (!number) {
          fail(item.line, "start_pose: a position of joint " + inQuotes(name) +
                              " is not a finite number. Write numbers, in radians or metres.");
        }
        positions.push_back(*number);
      };
      if (value.kind == Kind::List) {
        std::ranges::for_each(value.items, add);
      } else {
        add(value);
      }
      const auto size = static_cast<std::size_t>(positionSize(joint->type));
      if (positions.size() != size) {
        fail(value.line, "start_pose: joint " + inQuotes(name) + " is " +
                             std::string(toString(joint->type)) + " and has " +
                             std::to_string(size) + " position(s), not " +
                             std::to_string(positions.size()) + ". Give as many.");
      }
      startPose_[name] = std::move(positions);
    }
  }

  Mechanism& mechanism_;
  const std::string& source_;
  Warnings warnings_;
  std::deque<Joint> joints_;  ///< the mechanism's, as the file changes them
  std::unordered_map<std::string, std::size_t> jointByName_;
  std::vector<LoopJoint> loops_;
  std::set<std::string> retyped_;
  int strangers_ = 0;  ///< entries of joint_name without a joint
  std::map<std::string, std::vector<double>> startPose_;
};

}  // namespace
}  // namespace io

void addClosuresFromYamlText(Mechanism& mechanism, std::string_view text,
                             const std::string& source) {
  const io::YamlValue file = io::readYaml(text, source);
  io::ClosureReader(mechanism, source).read(file);
}

}  // namespace kempe
