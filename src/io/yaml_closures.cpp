#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "io/messages.hpp"
#include "io/names.hpp"
#include "io/text.hpp"
#include "io/yaml_document.hpp"
#include "kempe/errors.hpp"
#include "kempe/io.hpp"

namespace kempe {
namespace io {
namespace {

using Kind = YamlValue::Kind;

/// Keys of the collections that use such files, which the dynamics do not need.
constexpr std::array<std::string_view, 6> keysOfOthers{"name_spherical", "name_free", "urdf",
                                                       "robot_name",     "visual",    "srdf"};

/// Reads the closures; everything is checked before the mechanism is changed.
class ClosureReader {
 public:
  ClosureReader(Mechanism& mechanism, const std::string& source)
      : mechanism_(mechanism), source_(source), warnings_(source) {}

  void read(const YamlValue& file) {
    if (file.kind != Kind::Map) {
      fail(std::max(file.line, 1),
           "the file is no map of keys. Write closed_loop: [[frame, frame]].");
    }
    const YamlValue* pairs = nullptr;
    const YamlValue* types = nullptr;
    const YamlValue* motors = nullptr;
    const YamlValue* cuts = nullptr;
    for (std::size_t i = 0; i < file.keys.size(); ++i) {
      const YamlValue& key = file.keys[i];
      if (key.text == "closed_loop") {
        pairs = &file.items[i];
      } else if (key.text == "type") {
        types = &file.items[i];
      } else if (key.text == "name_mot") {
        motors = &file.items[i];
      } else if (key.text == "cut") {
        cuts = &file.items[i];
      } else {
        reportUnknownKey(key);
      }
    }
    if (pairs == nullptr) {
      fail(file.line, "there is no key \"closed_loop\". Write closed_loop: [[frame, frame]].");
    }
    readClosures(*pairs, types);
    if (cuts != nullptr) {
      readCuts(*cuts);
    }
    const std::vector<std::size_t> independent = readMotors(motors);
    std::ranges::move(loops_, std::back_inserter(mechanism_.loops));
    if (motors != nullptr) {
      markIndependent(independent);
    }
    std::ranges::move(warnings_.messages(), std::back_inserter(mechanism_.warnings));
  }

 private:
  [[noreturn]] void fail(int line, const std::string& reason) const {
    throw ModelError(placeOf(source_, line) + reason);
  }

  void reportUnknownKey(const YamlValue& key) {
    if (std::ranges::find(keysOfOthers, key.text) == keysOfOthers.end()) {
      fail(key.line, "the key " + inQuotes(key.text) + " is not known." +
                         suggestion(key.text, {"closed_loop", "type", "name_mot", "cut"}) +
                         " The keys are closed_loop, type, name_mot, cut.");
    }
    warnings_.add(key.line,
                  "the key " + inQuotes(key.text) + " is not used; joints are what the URDF says.");
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
    loop.name = nextName();
    loop.type = type == nullptr ? LoopType::Fixed : typeOf(*type);
    loop.from(bodyOf(frames[0])).to(bodyOf(frames[1]));
    if (loop.predecessor.body == loop.successor.body) {
      fail(pair.line, "frames " + inQuotes(frames[0].text) + " and " + inQuotes(frames[1].text) +
                          " are on the same link " + inQuotes(loop.successor.body) +
                          ". Name frames of two links.");
    }
    loops_.push_back(std::move(loop));
  }

  LoopType typeOf(const YamlValue& value) const {
    const std::string& name = word(value, "an entry of type");
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

  std::string nextName() {
    std::string name;
    do {
      name = "closed_loop_" + std::to_string(++count_);
    } while (isLoopName(mechanism_, name));
    return name;
  }

  std::vector<std::size_t> readMotors(const YamlValue* motors) const {
    std::vector<std::size_t> found;
    if (motors == nullptr) {
      return found;
    }
    for (const YamlValue& value : list(*motors, "name_mot")) {
      const std::string& name = word(value, "an entry of name_mot");
      const auto it = std::ranges::find(mechanism_.joints, name, &Joint::name);
      if (it == mechanism_.joints.end()) {
        fail(value.line, "name_mot: " + isMissing("joint", name, namesOf(mechanism_.joints)));
      }
      if (it->type == JointType::Fixed) {
        fail(value.line, "name_mot: joint " + inQuotes(name) +
                             " is fixed and cannot be a motor. Remove it from the list.");
      }
      const auto index = static_cast<std::size_t>(it - mechanism_.joints.begin());
      if (std::ranges::find(found, index) != found.end()) {
        fail(value.line,
             "name_mot: joint " + inQuotes(name) + " is named twice. Remove one of the two.");
      }
      found.push_back(index);
    }
    return found;
  }

  /// Motors are independent, all else that moves is not; a free base stays as it is.
  void markIndependent(const std::vector<std::size_t>& motors) {
    for (Joint& joint : mechanism_.joints) {
      if (joint.type != JointType::Fixed && joint.type != JointType::Free) {
        joint.independence = false;
      }
    }
    for (const std::size_t i : motors) {
      mechanism_.joints[i].independence = true;
    }
  }

  Mechanism& mechanism_;
  const std::string& source_;
  Warnings warnings_;
  std::vector<LoopJoint> loops_;
  int count_ = 0;
};

}  // namespace
}  // namespace io

void addClosuresFromYamlText(Mechanism& mechanism, std::string_view text,
                             const std::string& source) {
  const io::YamlValue file = io::readYaml(text, source);
  io::ClosureReader(mechanism, source).read(file);
}

}  // namespace kempe
