#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kempe::io {

/// A value in a YAML file: a text, a list or a map, with its line.
struct YamlValue {
  enum class Kind { Null, Text, List, Map };
  Kind kind = Kind::Null;
  int line = 0;
  std::string text{};              ///< of a text
  std::vector<YamlValue> items{};  ///< of a list; of a map the values
  std::vector<YamlValue> keys{};   ///< of a map, one for each item
};

/// Reads one YAML document. Throws ModelError, with file and line, for text that is not YAML and
/// for features that closures never need: several documents, anchors and aliases, keys that occur
/// twice or are not plain text, deep nesting, large files.
YamlValue readYaml(std::string_view text, const std::string& source);

/// Whether YAML text has a key closed_loop that lists anything. Throws as readYaml() does.
bool hasClosures(std::string_view text, const std::string& source);

}  // namespace kempe::io
