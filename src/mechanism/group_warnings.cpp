#include "mechanism/group_warnings.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "text/decimals.hpp"

namespace kempe {
namespace {

constexpr std::size_t kShown = 4;      ///< names that are listed behind the first
constexpr std::size_t kLongest = 256;  ///< longer names are recognised in quotation marks only

/// Whether a character may be part of a word, so that no name begins or ends beside it.
bool isInWord(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// A warning split into its text without names and numbers, and the names in quotation marks with
/// their ends.
struct Parts {
  std::string shape;
  std::vector<std::pair<std::string, std::size_t>> names;
};

class Reader {
 public:
  explicit Reader(const Mechanism& mechanism) {
    const auto add = [&](const auto& things) {
      for (const auto& thing : things) {
        names_.insert(thing.name);
        longest_ = std::max(longest_, std::min(thing.name.size(), kLongest));
      }
    };
    add(mechanism.bodies);
    add(mechanism.joints);
    add(mechanism.couplings);
    add(mechanism.loops);
    add(mechanism.rods);
    add(mechanism.functions);
  }

  [[nodiscard]] Parts read(std::string_view text) const {
    Parts parts;
    for (std::size_t i = 0; i < text.size();) {
      const bool begins = i == 0 || !isInWord(text[i - 1]);
      std::size_t length = 0;
      if (text[i] == '"') {
        const std::size_t end = text.find('"', i + 1);
        length = end == std::string_view::npos ? 0 : end + 1 - i;
        if (length > 0) {
          parts.names.emplace_back(text.substr(i, length), i + length);
        }
      } else if (begins) {
        length = nameLength(text.substr(i));
        length = length > 0 ? length : figureLength(text.substr(i));
      }
      if (length > 0) {
        if (parts.shape.ends_with("\1, ")) {
          parts.shape.resize(parts.shape.size() - 2);  // a list counts as one name
        } else {
          parts.shape += '\1';
        }
        i += length;
      } else {
        parts.shape += text[i++];
      }
    }
    return parts;
  }

 private:
  /// Length of the longest name of the mechanism with which the text begins; 0 for none.
  [[nodiscard]] std::size_t nameLength(std::string_view text) const {
    for (std::size_t length = std::min(longest_, text.size()); length > 0; --length) {
      const bool ends = length == text.size() || !isInWord(text[length]);
      if (ends && names_.contains(text.substr(0, length))) {
        return length;
      }
    }
    return 0;
  }

  static std::size_t figureLength(std::string_view text) {
    const std::size_t sign = text.starts_with('-') ? 1 : 0;
    if (text.size() <= sign || !isDigit(text[sign])) {
      return 0;
    }
    std::size_t end = std::min(text.find_first_not_of("0123456789.eE+-", sign), text.size());
    while (!isDigit(text[end - 1])) {
      --end;  // the full stop of a sentence
    }
    return end;
  }

  std::unordered_set<std::string_view> names_;
  std::size_t longest_ = 0;
};

/// The first of some warnings of one shape, with the names of the others.
std::string together(const std::string& first, const std::vector<Parts>& all) {
  const auto& names = all.front().names;
  std::size_t varies = 0;
  while (varies < names.size() && std::ranges::all_of(all, [&](const Parts& parts) {
           return parts.names[varies].first == names[varies].first;
         })) {
    ++varies;
  }
  if (varies == names.size()) {
    return first + " (" + std::to_string(all.size()) + " times)";
  }
  std::vector<std::string> others;
  for (const Parts& parts : all) {
    const std::string& name = parts.names[varies].first;
    if (name != names[varies].first && std::ranges::find(others, name) == others.end()) {
      others.push_back(name);
    }
  }
  std::string list;
  const std::size_t shown = others.size() > kShown + 1 ? kShown : others.size();
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i > 0 && i + 1 == others.size();
    list += (i == 0 ? "" : last ? " and " : ", ") + others[i];
  }
  if (shown < others.size()) {
    list += " and " + std::to_string(others.size() - shown) + " more";
  }
  return std::string(first).insert(names[varies].second, " (likewise " + list + ")");
}

}  // namespace

std::vector<std::string> groupWarnings(const std::vector<std::string>& warnings,
                                       const Mechanism& mechanism) {
  const Reader reader(mechanism);
  std::map<std::string, std::vector<Parts>> groups;
  std::vector<std::pair<std::string, std::string>> firsts;  // shape and warning
  for (const std::string& warning : warnings) {
    Parts parts = reader.read(warning);
    // Names of the same number, so that they can be compared one by one.
    const std::string shape = parts.shape + '\2' + std::to_string(parts.names.size());
    std::vector<Parts>& group = groups[shape];
    if (group.empty()) {
      firsts.emplace_back(shape, warning);
    }
    group.push_back(std::move(parts));
  }
  std::vector<std::string> result;
  for (const auto& [shape, warning] : firsts) {
    const std::vector<Parts>& group = groups[shape];
    result.push_back(group.size() == 1 ? warning : together(warning, group));
  }
  return result;
}

}  // namespace kempe
