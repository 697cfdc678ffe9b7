#include <algorithm>
#include <array>
#include <cmath>

#include "io/numbers.hpp"
#include "io/text.hpp"
#include "io/xml_document.hpp"
#include "kempe/errors.hpp"

namespace kempe::io {
namespace {

/// Tags that other programs put into robot files and that change nothing Kempe computes.
constexpr std::array<std::string_view, 24> tagsOfOthers{"calibration",
                                                        "collision_checking",
                                                        "contact",
                                                        "contact_coefficients",
                                                        "disable_collisions",
                                                        "gazebo",
                                                        "gravity",  // of a link in Gazebo
                                                        "hardwareInterface",
                                                        "joint_properties",
                                                        "joint_state_publisher",
                                                        "kinematic",
                                                        "mujoco",
                                                        "plugin",
                                                        "ros2_control",
                                                        "ros_control",
                                                        "safety_controller",
                                                        "selfCollide",
                                                        "self_collide",
                                                        "self_collision_checking",
                                                        "self_filter",
                                                        "sensor",
                                                        "transmission",
                                                        "verbose",
                                                        "webots"};

bool contains(std::initializer_list<std::string_view> list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

/// Whether two elements have the same attributes, in any order, and the same children.
bool areEqual(const tinyxml2::XMLElement& a, const tinyxml2::XMLElement& b) {
  const auto holdsAll = [](const tinyxml2::XMLElement& some, const tinyxml2::XMLElement& other) {
    for (const auto* x = some.FirstAttribute(); x != nullptr; x = x->Next()) {
      if (other.Attribute(x->Name(), x->Value()) == nullptr) {
        return false;
      }
    }
    return true;
  };
  const auto* x = a.FirstChildElement();
  const auto* y = b.FirstChildElement();
  for (; x != nullptr && y != nullptr; x = x->NextSiblingElement(), y = y->NextSiblingElement()) {
    if (std::string_view(x->Name()) != y->Name() || !areEqual(*x, *y)) {
      return false;
    }
  }
  return x == y && holdsAll(a, b) && holdsAll(b, a);  // both lists have come to their ends
}

std::string wordOf(std::size_t count) {
  constexpr std::array<std::string_view, 8> words{"no number",     "one number",   "two numbers",
                                                  "three numbers", "four numbers", "five numbers",
                                                  "six numbers",   "seven numbers"};
  return std::string(words.at(count));
}

}  // namespace

void Element::expect(const Contents& contents) const {
  expectAttributes(contents);
  for (const auto* node = element_->FirstChild(); node != nullptr; node = node->NextSibling()) {
    if (const auto* element = node->ToElement(); element != nullptr) {
      expectChild(*element, contents);
    } else if (node->ToComment() == nullptr) {
      report(contents, node->GetLineNum(),
             "text " + inQuotes(node->Value()) +
                 " is between the tags. Remove it, or put it into a comment.");
    }
  }
}

void Element::expectAttributes(const Contents& contents) const {
  for (const auto* a = element_->FirstAttribute(); a != nullptr; a = a->Next()) {
    const std::string_view name = a->Name();
    const bool isNamespace = name == "xmlns" || name.starts_with("xmlns:");
    if (!isNamespace && !contains(contents.attributes, name)) {
      warnings_->add(a->GetLineNum(), "the attribute " + inQuotes(name) + " of " + asTag(tag()) +
                                          " is not known and is ignored." +
                                          suggestion(name, contents.attributes));
    }
  }
}

void Element::expectChild(const tinyxml2::XMLElement& child, const Contents& contents) const {
  const std::string_view name = child.Name();
  const Element found(child, *source_, *warnings_);
  if (contains(contents.many, name)) {
    return;
  }
  if (contains(contents.once, name)) {
    const auto* first = element_->FirstChildElement(child.Name());
    if (first != &child && areEqual(*first, child)) {
      found.warn("a second " + asTag(name) + " repeats the first and is ignored.");
    } else if (first != &child) {
      report(contents, child.GetLineNum(),
             "a second " + asTag(name) + " (the first is in line " +
                 std::to_string(first->GetLineNum()) + "). Remove one of the two.");
    }
    return;
  }
  if (std::ranges::find(tagsOfOthers, name) != tagsOfOthers.end()) {
    found.warn(asTag(name) + " does not affect the dynamics and is ignored.");
    return;
  }
  const bool isMacro = name.starts_with("xacro:");
  std::vector<std::string_view> known(contents.once);
  known.insert(known.end(), contents.many.begin(), contents.many.end());
  std::string remedy = suggestion(name, known);
  if (isMacro) {
    remedy = " Expand the macros with xacro first.";
  } else if (remedy.empty()) {
    remedy = " Remove it, or see docs/formats.md for what is read.";
  }
  report(contents, child.GetLineNum(), "the tag " + asTag(name) + " is not known here." + remedy);
}

void Element::report(const Contents& contents, int line, const std::string& reason) const {
  if (!contents.cosmetic) {
    throw ElementError(*source_, line, describe() + ": " + reason);
  }
  warnings_->add(line, describe() + ": " + reason);
}

bool Element::tolerate(const std::function<void()>& read, const std::string& consequence) const {
  try {
    read();
  } catch (const ElementError& error) {
    warnings_->add(error.line(), error.text() + " " + consequence);
    return false;
  }
  return true;
}

std::optional<Element> Element::child(std::string_view tag) const {
  for (const auto* c = element_->FirstChildElement(); c != nullptr; c = c->NextSiblingElement()) {
    if (c->Name() == tag) {
      return Element(*c, *source_, *warnings_);
    }
  }
  return std::nullopt;
}

Element Element::requiredChild(std::string_view tag, std::string_view remedy) const {
  const std::optional<Element> found = child(tag);
  if (!found) {
    fail("has no " + asTag(tag) + ". " + std::string(remedy));
  }
  return *found;
}

std::vector<Element> Element::children(std::string_view tag) const {
  std::vector<Element> result;
  for (const auto* c = element_->FirstChildElement(); c != nullptr; c = c->NextSiblingElement()) {
    if (c->Name() == tag) {
      result.emplace_back(*c, *source_, *warnings_);
    }
  }
  return result;
}

std::optional<std::string> Element::text(const char* attribute) const {
  const char* const value = element_->Attribute(attribute);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (hasControlCharacters(value)) {
    fail(std::string(attribute) + "=" + inQuotes(value) +
         " holds a line end, tab or other control character. Remove it.");
  }
  return value;
}

std::string Element::requiredText(const char* attribute) const {
  return required(text(attribute), attribute, "...");
}

std::string Element::requiredName(const char* attribute) const {
  std::string name = requiredText(attribute);
  if (name.empty()) {
    fail("the attribute " + inQuotes(attribute) + " is empty. Give a name.");
  }
  return name;
}

std::optional<bool> Element::boolean(const char* attribute) const {
  const std::optional<std::string> value = text(attribute);
  if (!value) {
    return std::nullopt;
  }
  if (*value != "true" && *value != "false") {
    fail(std::string(attribute) + "=" + inQuotes(*value) +
         " is neither true nor false. Write one of the two.");
  }
  return *value == "true";
}

std::optional<std::vector<double>> Element::numbers(const char* attribute, std::size_t count,
                                                    double largest) const {
  const char* const value = element_->Attribute(attribute);
  if (value == nullptr) {
    return std::nullopt;
  }
  const std::string shown = std::string(attribute) + "=" + inQuotes(value);
  const std::vector<std::string_view> pieces = splitAtBlanks(value);
  std::vector<double> result;
  for (const std::string_view piece : pieces) {
    const std::optional<double> number = parseNumber(piece);
    if (!number) {
      const bool isMacro = piece.find("${") != std::string_view::npos;
      fail(shown + ": " + inQuotes(piece) + " is not a finite number. " +
           (isMacro ? "Expand the macros with xacro first."
                    : "Write " + wordOf(count) + " such as 0.5 or 2e-3."));
    }
    if (std::abs(*number) > largest) {
      fail(shown + ": " + inQuotes(piece) + " is larger than " + formatNumber(largest) +
           ", which is too large for a robot. Check the unit (metres, kilograms, radians).");
    }
    result.push_back(*number);
    if (result.size() > count) {
      break;
    }
  }
  if (result.size() != count) {
    fail(shown + " holds " + std::to_string(pieces.size()) + " numbers. Write " + wordOf(count) +
         (count > 1 ? ", with blanks between them." : "."));
  }
  return result;
}

std::optional<double> Element::number(const char* attribute, double largest) const {
  const auto values = numbers(attribute, 1, largest);
  return values ? std::optional(values->front()) : std::nullopt;
}

std::optional<double> Element::infinity(const char* attribute) const {
  const char* const value = element_->Attribute(attribute);
  return value == nullptr ? std::nullopt : parseInfinity(value);
}

double Element::requiredNumber(const char* attribute) const {
  return required(number(attribute), attribute, "a number");
}

std::optional<int> Element::index(const char* attribute) const {
  const char* const value = element_->Attribute(attribute);
  if (value == nullptr) {
    return std::nullopt;
  }
  const std::optional<int> index = parseIndex(value);
  if (!index) {
    fail(std::string(attribute) + "=" + inQuotes(value) +
         " is not a whole number. Write 0, 1, 2, ...");
  }
  return index;
}

std::optional<Vector3> Element::vector(const char* attribute) const {
  const auto values = numbers(attribute, 3, largestNumber);
  if (!values) {
    return std::nullopt;
  }
  return Vector3{(*values)[0], (*values)[1], (*values)[2]};
}

Vector3 Element::requiredVector(const char* attribute) const {
  return required(vector(attribute), attribute, "three numbers");
}

std::optional<std::array<double, 4>> Element::four(const char* attribute) const {
  const auto values = numbers(attribute, 4, largestNumber);
  if (!values) {
    return std::nullopt;
  }
  return std::array<double, 4>{(*values)[0], (*values)[1], (*values)[2], (*values)[3]};
}

std::optional<std::vector<double>> Element::list(const char* attribute, std::size_t count) const {
  return numbers(attribute, count, largestNumber);
}

std::array<double, 4> Element::requiredFour(const char* attribute) const {
  return required(four(attribute), attribute, "four numbers");
}

template <typename Value>
Value Element::required(std::optional<Value> value, std::string_view attribute,
                        std::string_view example) const {
  if (!value) {
    fail("the attribute " + inQuotes(attribute) + " is missing. Add " + std::string(attribute) +
         "=" + inQuotes(example) + ".");
  }
  return *std::move(value);
}

std::string Element::describe() const {
  std::string path;
  for (const tinyxml2::XMLElement* e = element_;;) {
    const char* const name = e->Attribute("name");
    path += name == nullptr ? asTag(e->Name()) : e->Name() + (" " + inQuotes(name));
    const auto* const parent = e->Parent()->ToElement();
    const bool isPartOfRobot = parent != nullptr && parent->Parent()->ToElement() == nullptr;
    if (parent == nullptr || (isPartOfRobot && name != nullptr)) {
      return path;
    }
    path += " of ";
    e = parent;
  }
}

void Element::fail(const std::string& reason) const {
  throw ElementError(*source_, line(), describe() + ": " + reason);
}

}  // namespace kempe::io
