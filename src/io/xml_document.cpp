#include "io/xml_document.hpp"

#include <algorithm>
#include <utility>

#include "io/text.hpp"
#include "io/xml_syntax.hpp"
#include "kempe/errors.hpp"

namespace kempe::io {
namespace {

/// Why the parser gave up, in words.
std::string reasonOf(tinyxml2::XMLError error) {
  switch (error) {
    case tinyxml2::XML_ERROR_MISMATCHED_ELEMENT:
    case tinyxml2::XML_ERROR_PARSING:
      return "the element that begins here is not closed, or closed by the tag of another. Close "
             "it; the "
             "file may be cut off.";
    case tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED:
      return "elements are nested more than " + std::to_string(TINYXML2_MAX_ELEMENT_DEPTH) +
             " deep. A robot needs fewer than ten levels.";
    case tinyxml2::XML_ERROR_PARSING_ATTRIBUTE:
      return "an attribute is not well-formed XML. Write name=\"value\".";
    case tinyxml2::XML_ERROR_PARSING_TEXT:
      return "text is not followed by a tag. Remove it; the file may be cut off.";
    case tinyxml2::XML_ERROR_PARSING_COMMENT:
      return "a comment is not closed. End it with -->.";
    case tinyxml2::XML_ERROR_PARSING_DECLARATION:
      return "an XML declaration <?...?> is not closed, or not at the beginning of the file. Write "
             "<?xml version=\"1.0\"?> there, or remove it.";
    case tinyxml2::XML_ERROR_EMPTY_DOCUMENT:
      return "there is no element in the file. A robot is written <robot name=\"...\">...</robot>.";
    default:
      return std::string("the file is not well-formed XML (") +
             tinyxml2::XMLDocument::ErrorIDToName(error) +
             "). Check the tags here; the file may be cut off.";
  }
}

/// The element that the parser's own message names, as "<tag>: "; nothing where it names none.
std::string elementIn(std::string_view message) {
  constexpr std::string_view label = "XMLElement name=";
  const auto at = message.find(label);
  return at == std::string_view::npos ? std::string()
                                      : asTag(message.substr(at + label.size())) + ": ";
}

}  // namespace

XmlDocument::XmlDocument(std::string_view text, std::string source)
    : source_(std::move(source)), warnings_(source_) {
  checkText(text, source_, mostBytes, "a robot in XML, <robot name=\"...\">");
  checkXmlSyntax(text, source_);
  const tinyxml2::XMLError error = document_.Parse(text.data(), text.size());
  if (error != tinyxml2::XML_SUCCESS) {
    throw ModelError(placeOf(source_, std::max(document_.ErrorLineNum(), 1)) +
                     elementIn(document_.ErrorStr()) + reasonOf(error));
  }
}

Element XmlDocument::root(std::string_view tag) {
  const tinyxml2::XMLElement* found = nullptr;
  for (const auto* node = document_.FirstChild(); node != nullptr; node = node->NextSibling()) {
    const std::string place = placeOf(source_, node->GetLineNum());
    if (node->ToText() != nullptr) {
      throw ModelError(place + "text " + inQuotes(node->Value()) +
                       " is outside all elements. Remove it.");
    }
    if (node->ToUnknown() != nullptr) {
      throw ModelError(place + inQuotes(node->Value()) +
                       " is not an element. Remove it; a robot needs no such declaration.");
    }
    const auto* element = node->ToElement();
    if (element == nullptr) {
      continue;
    }
    if (found != nullptr) {
      throw ModelError(place + asTag(element->Name()) + " is a second element at the top, after " +
                       asTag(found->Name()) + " in line " + std::to_string(found->GetLineNum()) +
                       ". Put everything into one " + asTag(tag) + ".");
    }
    found = element;
  }
  if (found == nullptr) {
    throw ModelError(placeOf(source_, 1) + reasonOf(tinyxml2::XML_ERROR_EMPTY_DOCUMENT));
  }
  if (found->Name() != tag) {
    throw ModelError(placeOf(source_, found->GetLineNum()) + "the outermost element is " +
                     asTag(found->Name()) + ", not " + asTag(tag) +
                     ". Convert the file to URDF if it is in another format.");
  }
  return {*found, source_, warnings_};
}

}  // namespace kempe::io
