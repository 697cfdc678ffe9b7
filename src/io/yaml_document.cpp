#include "io/yaml_document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <sstream>
#include <utility>

#include "io/messages.hpp"
#include "io/text.hpp"
#include "kempe/errors.hpp"

namespace kempe::io {
namespace {

constexpr std::size_t maxBytes = std::size_t{1} << 20;
constexpr std::size_t maxDepth = 16;
constexpr std::string_view expected = "a list of loop closures, closed_loop: [[a, b]]";

int lineOf(const YAML::Mark& mark) {
  return std::max(mark.line, 0) + 1;
}

/// Turns the parser's events into a YamlValue. Events instead of the library's nodes: nothing is
/// expanded, and a limit on depth and the ban on aliases hold while the file is being read.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(const std::string& source) : source_(source) {}

  [[nodiscard]] YamlValue take() { return std::move(result_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) {
      fail(mark, "a second document begins. Put everything into one.");
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuseAnchor(mark, anchor);
    add({.kind = YamlValue::Kind::Null, .line = lineOf(mark)}, mark);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    fail(mark, "aliases (*name) are not supported. Write the value out.");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                const std::string& value) override {
    refuseAnchor(mark, anchor);
    add({.kind = YamlValue::Kind::Text, .line = lineOf(mark), .text = value}, mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    begin(YamlValue::Kind::List, mark, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    begin(YamlValue::Kind::Map, mark, anchor);
  }
  void OnMapEnd() override { end(); }

 private:
  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& reason) const {
    throw ModelError(placeOf(source_, lineOf(mark)) + reason);
  }

  void refuseAnchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor) {
      fail(mark, "anchors (&name) are not supported. Remove the anchor.");
    }
  }

  void begin(YamlValue::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    refuseAnchor(mark, anchor);
    if (open_.size() == maxDepth) {
      fail(mark, "lists are nested more than " + std::to_string(maxDepth) +
                     " deep. Closures need two levels.");
    }
    if (!open_.empty() && expectsKey(open_.back())) {
      fail(mark, "a key is a list or map. Write a word.");
    }
    open_.push_back({.kind = kind, .line = lineOf(mark)});
  }

  void end() {
    YamlValue value = std::move(open_.back());
    open_.pop_back();
    place(std::move(value));
  }

  static bool expectsKey(const YamlValue& value) {
    return value.kind == YamlValue::Kind::Map && value.keys.size() == value.items.size();
  }

  void add(YamlValue value, const YAML::Mark& mark) {
    if (!open_.empty() && expectsKey(open_.back())) {
      if (value.kind != YamlValue::Kind::Text) {
        fail(mark, "a key is empty. Write a word before the colon.");
      }
      const auto& keys = open_.back().keys;
      if (std::ranges::find(keys, value.text, &YamlValue::text) != keys.end()) {
        fail(mark, "the key " + inQuotes(value.text) + " occurs twice. Remove one of the two.");
      }
      open_.back().keys.push_back(std::move(value));
      return;
    }
    place(std::move(value));
  }

  void place(YamlValue value) {
    if (open_.empty()) {
      result_ = std::move(value);
      return;
    }
    YamlValue& parent = open_.back();
    if (value.kind == YamlValue::Kind::Null && parent.kind == YamlValue::Kind::Map) {
      value.line = parent.keys.back().line;  // the parser notices only on the next line
    }
    parent.items.push_back(std::move(value));
  }

  const std::string& source_;
  int documents_ = 0;
  std::vector<YamlValue> open_;
  YamlValue result_;
};

}  // namespace

YamlValue readYaml(std::string_view text, const std::string& source) {
  checkText(text, source, maxBytes, expected);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder builder(source);
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take();
  } catch (const ModelError&) {
    throw;
  } catch (const YAML::Exception& error) {
    throw ModelError(placeOf(source, lineOf(error.mark)) + "the file is not YAML: " + error.msg +
                     ". Expected " + std::string(expected) + ".");
  } catch (const std::exception& error) {
    throw ModelError(placeOf(source, 1) + "the file cannot be read as YAML: " + error.what() +
                     ". Expected " + std::string(expected) + ".");
  }
}

bool hasClosures(std::string_view text, const std::string& source) {
  const YamlValue file = readYaml(text, source);
  for (std::size_t i = 0; i < file.keys.size(); ++i) {
    if (file.keys[i].text == "closed_loop") {
      return !file.items[i].items.empty();
    }
  }
  return false;
}

}  // namespace kempe::io
