#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kempe::io {

/// "file:line: ", with which every error and warning about a file begins.
std::string placeOf(const std::string& source, int line);

/// A name in quotation marks for messages: long ones shortened, control characters shown as '?'.
std::string inQuotes(std::string_view text);

/// The name of an XML element as it is written, <link>, shortened alike.
std::string asTag(std::string_view name);

/// " Did you mean "x"?" where a candidate is close to the word, otherwise nothing.
std::string suggestion(std::string_view word, const std::vector<std::string_view>& candidates);

/// Collects the warnings of a reader about a file: one for each kind, at its first location, with
/// the number of repetitions.
class Warnings {
 public:
  explicit Warnings(std::string source) : source_(std::move(source)) {}

  /// Warnings with the same `text` are of one kind.
  void add(int line, const std::string& text);

  /// The messages in the order of the first of each kind.
  [[nodiscard]] std::vector<std::string> messages() const;

 private:
  struct Entry {
    std::string text;
    int line = 0;
    int count = 1;
  };
  std::string source_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> indexOf_;
  std::size_t leftOut_ = 0;
};

}  // namespace kempe::io
