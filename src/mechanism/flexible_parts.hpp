#pragma once

#include "kempe/mechanism.hpp"

namespace kempe::detail {

/// Adds to each flexible body the bodies and joints by which the tables describe it:
///
///   <body>/mode1      a body with the mass of the flexible one, which does not move against it, and
///                     the first modal coordinate; the others are joints of massless bodies
///   <body>/<node>     a massless body on <body>/mode1 that moves as the node does
///
/// Joints that attach to nodes then have these as parents. Does nothing where they are there.
void addFlexibleParts(Mechanism& mechanism);

/// The names of these bodies.
std::string modeName(const FlexibleBody& flexible, std::size_t mode);
std::string nodeName(const FlexibleBody& flexible, std::string_view node);

/// The flexible body with a mode of this name, null if there is none.
const FlexibleBody* findMode(const Mechanism& mechanism, std::string_view name);

}  // namespace kempe::detail
