#include "io/files.hpp"

#include <fstream>
#include <iterator>
#include <system_error>

#include "kempe/errors.hpp"
#include "text/messages.hpp"

namespace kempe::io {

namespace fs = std::filesystem;

std::string shown(const fs::path& path) {
  return asUtf8(path.string());
}

void failAt(const fs::path& path, const std::string& reason) {
  throw ModelError(shown(path) + ": " + reason);
}

std::string readFile(const fs::path& path, std::size_t maxBytes, const std::string& expected) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    failAt(path, "cannot be read: " + (error ? error.message() : std::string("no such file")) +
                     ". Check the path.");
  }
  if (fs::is_directory(status)) {
    failAt(path, "is a folder. Name " + expected + " in it.");
  }
  if (!fs::is_regular_file(status)) {
    failAt(path, "is not a regular file. Name " + expected + ".");
  }
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > maxBytes) {
    failAt(path, "has " + std::to_string(size) + " bytes; at most " + std::to_string(maxBytes) +
                     " are read. Check that it is " + expected + ".");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    failAt(path, "cannot be read. Check that you may read it.");
  }
  return text;
}

}  // namespace kempe::io
