#pragma once

#include <tinyxml2.h>

#include <array>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/messages.hpp"
#include "kempe/errors.hpp"
#include "kempe/mechanism.hpp"

namespace kempe::io {

/// Numbers larger than this are taken for mistakes, except in limits.
constexpr double largestNumber = 1e12;
/// A limit of this size or more is none.
constexpr double noLimit = 1e30;

/// The tags and attributes allowed in an element. Others are reported.
struct Contents {
  std::initializer_list<std::string_view> attributes{};
  std::initializer_list<std::string_view> once{};  ///< children that may occur once
  std::initializer_list<std::string_view> many{};  ///< children that may repeat
  /// Part of a shape or material: unknown tags and attributes cause only a warning, since they do
  /// not affect the computations.
  bool cosmetic = false;
};

/// An error in an element, without its location in the file.
class ElementError : public ModelError {
 public:
  ElementError(const std::string& source, int line, std::string text)
      : ModelError(placeOf(source, line) + text), line_(line), text_(std::move(text)) {}

  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  int line_;
  std::string text_;
};

/// An element of a document, with access functions that report errors with file and line. Valid as
/// long as its document.
class Element {
 public:
  Element(const tinyxml2::XMLElement& element, const std::string& source, Warnings& warnings)
      : element_(&element), source_(&source), warnings_(&warnings) {}

  [[nodiscard]] std::string_view tag() const { return element_->Name(); }
  [[nodiscard]] int line() const { return element_->GetLineNum(); }
  /// "file:line: "
  [[nodiscard]] std::string place() const { return placeOf(*source_, line()); }

  /// Reports every attribute and child that `contents` does not list: attributes and known tags
  /// without meaning for Kempe as warnings, everything else as an error.
  void expect(const Contents& contents) const;

  [[nodiscard]] std::optional<Element> child(std::string_view tag) const;
  [[nodiscard]] Element requiredChild(std::string_view tag, std::string_view remedy) const;
  [[nodiscard]] std::vector<Element> children(std::string_view tag) const;

  [[nodiscard]] std::optional<std::string> text(const char* attribute) const;
  [[nodiscard]] std::string requiredText(const char* attribute) const;
  /// A name: neither missing nor empty.
  [[nodiscard]] std::string requiredName(const char* attribute = "name") const;
  [[nodiscard]] std::optional<bool> boolean(const char* attribute) const;
  [[nodiscard]] std::optional<double> number(const char* attribute,
                                             double largest = largestNumber) const;
  /// ±infinity where the attribute says so ("inf", "-Infinity", …), which number() refuses.
  [[nodiscard]] std::optional<double> infinity(const char* attribute) const;
  [[nodiscard]] double requiredNumber(const char* attribute) const;
  [[nodiscard]] std::optional<int> index(const char* attribute) const;
  [[nodiscard]] std::optional<Vector3> vector(const char* attribute) const;
  [[nodiscard]] Vector3 requiredVector(const char* attribute) const;
  [[nodiscard]] std::optional<std::array<double, 4>> four(const char* attribute) const;
  [[nodiscard]] std::array<double, 4> requiredFour(const char* attribute) const;
  /// `count` numbers, at most seven.
  [[nodiscard]] std::optional<std::vector<double>> list(const char* attribute,
                                                        std::size_t count) const;

  /// Its tag and name up to a part of the robot with a name: `<axis> of joint "knee"`.
  [[nodiscard]] std::string describe() const;
  [[noreturn]] void fail(const std::string& reason) const;
  void warn(const std::string& text) const { warnings_->add(line(), text); }
  /// Runs `read` and turns its errors into a warning that ends with `consequence`, for parts of a
  /// file that do not affect the computations. Returns whether there was no error.
  bool tolerate(const std::function<void()>& read, const std::string& consequence) const;

 private:
  template <typename Value>
  [[nodiscard]] Value required(std::optional<Value> value, std::string_view attribute,
                               std::string_view example) const;
  void expectAttributes(const Contents& contents) const;
  void report(const Contents& contents, int line, const std::string& reason) const;
  void expectChild(const tinyxml2::XMLElement& child, const Contents& contents) const;
  [[nodiscard]] std::optional<std::vector<double>> numbers(const char* attribute, std::size_t count,
                                                           double largest) const;

  const tinyxml2::XMLElement* element_;
  const std::string* source_;
  Warnings* warnings_;
};

/// XML text, parsed and checked for hostile or broken content.
class XmlDocument {
 public:
  XmlDocument(std::string_view text, std::string source);

  /// The only element at the top, of the given tag.
  [[nodiscard]] Element root(std::string_view tag);
  [[nodiscard]] const Warnings& warnings() const { return warnings_; }

 private:
  std::string source_;
  Warnings warnings_;
  tinyxml2::XMLDocument document_;
};

}  // namespace kempe::io
