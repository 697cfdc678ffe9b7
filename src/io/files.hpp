#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace kempe::io {

/// A path as messages call it: file names may hold bytes that are not UTF-8.
std::string shown(const std::filesystem::path& path);

/// Throws a ModelError about a file.
[[noreturn]] void failAt(const std::filesystem::path& path, const std::string& reason);

/// The content of a file of at most `maxBytes`. `expected` is what to name, for error messages, such
/// as "a .urdf file".
std::string readFile(const std::filesystem::path& path, std::size_t maxBytes,
                     const std::string& expected);

}  // namespace kempe::io
