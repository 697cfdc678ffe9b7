#pragma once

#include <string>
#include <string_view>

namespace kempe::io {

/// Throws ModelError for input that the XML parser would accept or be slow on: text other than XML,
/// declarations (DOCTYPE, ENTITY), entities other than XML's five, a bare '&', an attribute that
/// occurs twice, and more tags and attributes than any robot has.
void checkXmlSyntax(std::string_view text, const std::string& source);

}  // namespace kempe::io
