#include "io/xml_syntax.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <set>
#include <system_error>

#include "io/messages.hpp"
#include "io/text.hpp"
#include "kempe/errors.hpp"

namespace kempe::io {
namespace {

constexpr std::ptrdiff_t mostXmlParts = 4'000'000;
constexpr std::size_t mostAttributes = 100;
constexpr std::string_view tagEnds = " \t\r\n=/>\"'";
constexpr std::string_view byteOrderMark = "\xef\xbb\xbf";

/// Walks once over the text, tag by tag, stepping over comments, CDATA and processing instructions.
class Scanner {
 public:
  Scanner(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  void run() {
    requireXml();
    boundParts();
    while (at_ < text_.size()) {
      if (text_[at_] == '&') {
        requireReference();
        ++at_;
      } else if (text_[at_] != '<') {
        ++at_;
      } else if (!skip("<!--", "-->") && !skip("<![CDATA[", "]]>") && !skip("<?", "?>")) {
        refuseDeclaration();
        scanTag();
      }
    }
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw ModelError(placeOf(source_, lineOf(text_, at_)) + reason);
  }

  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }

  void requireXml() {
    if (text_.starts_with(byteOrderMark)) {
      at_ = byteOrderMark.size();
    }
    at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size());
    if (!rest().starts_with('<')) {
      const std::string_view beginning = rest().substr(0, rest().find_first_of("\r\n"));
      fail("the file is not XML: it begins with " + inQuotes(beginning.substr(0, 40)) +
           ". A robot begins with <robot name=\"...\">.");
    }
  }

  void boundParts() const {
    const auto parts = std::ranges::count_if(text_, [](char c) { return c == '<' || c == '='; });
    if (parts > mostXmlParts) {
      fail("the file has more than " + std::to_string(mostXmlParts) +
           " tags and attributes. Check that it is a robot.");
    }
  }

  /// Steps behind a section; one without end is left to the parser.
  bool skip(std::string_view begin, std::string_view end) {
    if (!rest().starts_with(begin)) {
      return false;
    }
    const auto found = text_.find(end, at_ + begin.size());
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
    return true;
  }

  void refuseDeclaration() const {
    if (rest().starts_with("<!")) {
      const std::string_view word = rest().substr(0, rest().find_first_of(" \t\r\n>["));
      fail("the declaration " + inQuotes(word) +
           " is not supported: document types and entities are not read. Remove it and write out "
           "its content.");
    }
  }

  /// Skips a tag and checks its attributes; errors in well-formedness are left to the parser.
  void scanTag() {
    const std::size_t tagAt = at_ + 1;
    const std::string_view tag =
        text_.substr(tagAt, std::min(text_.find_first_of(tagEnds, tagAt), text_.size()) - tagAt);
    std::set<std::string_view> attributes;
    std::string_view word;
    for (at_ = tagAt + tag.size(); at_ < text_.size() && text_[at_] != '>';) {
      if (text_[at_] == '"' || text_[at_] == '\'') {
        checkAttribute(tag, word, attributes);
        scanValue();
      } else if (text_.find_first_of(tagEnds, at_) == at_) {
        ++at_;
      } else {
        const auto end = std::min(text_.find_first_of(tagEnds, at_), text_.size());
        word = text_.substr(at_, end - at_);
        at_ = end;
      }
    }
  }

  void checkAttribute(std::string_view tag, std::string_view name,
                      std::set<std::string_view>& known) const {
    if (!known.insert(name).second) {
      fail(asTag(tag) + ": the attribute " + inQuotes(name) +
           " occurs twice. Remove one of the two.");
    }
    if (known.size() > mostAttributes) {
      fail(asTag(tag) + ": more than " + std::to_string(mostAttributes) +
           " attributes. Check that the file is a robot.");
    }
  }

  void scanValue() {
    const char quote = text_[at_];
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '&') {
        requireReference();
      }
    }
    ++at_;
  }

  /// An '&' must begin one of XML's five entities or the number of a character.
  void requireReference() const {
    constexpr std::array<std::string_view, 5> known{"lt", "gt", "amp", "quot", "apos"};
    constexpr std::size_t longest = 12;
    const auto end = rest().substr(0, longest).find(';');
    const std::string_view name =
        end == std::string_view::npos ? std::string_view() : rest().substr(1, end - 1);
    if (std::ranges::find(known, name) == known.end() && !isCharacterNumber(name)) {
      fail(
          "\"&\" begins neither a character nor an entity known without a document type (&lt; "
          "&gt; &amp; &quot; &apos;). Write &amp; for the character itself.");
    }
  }

  static bool isCharacterNumber(std::string_view name) {
    const bool hexadecimal = name.starts_with("#x");
    const std::string_view digits =
        name.substr(std::min<std::size_t>(name.size(), hexadecimal ? 2 : 1));
    std::uint32_t number = 0;
    const char* const last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, number, hexadecimal ? 16 : 10);
    const bool isCharacter =
        number != 0 && number <= 0x10ffff && (number < 0xd800 || number > 0xdfff);
    return name.starts_with('#') && error == std::errc{} && end == last && isCharacter;
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
};

}  // namespace

void checkXmlSyntax(std::string_view text, const std::string& source) {
  Scanner(text, source).run();
}

}  // namespace kempe::io
