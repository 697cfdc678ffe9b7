#pragma once

#include <string>
#include <string_view>

namespace kempe::io {

/// Throws ModelError for what the XML parser would let pass or make costly: text that is not XML,
/// declarations (DOCTYPE, ENTITY), entities other than XML's five, a bare '&', an attribute that
/// occurs twice, and more tags and attributes than any robot has.
void checkXmlSyntax(std::string_view text, const std::string& source);

}  // namespace kempe::io
