#pragma once

#include <nanobind/nanobind.h>

#include <filesystem>
#include <stdexcept>
#include <string>

/// Text and paths as arguments. Python strings can hold characters that neither UTF-8 nor a file
/// name can (lone surrogates, a null character); such an argument raises ValueError, which shows
/// it.
namespace kempe::python {

/// A string argument; reading it throws where it is not text.
class Text {
 public:
  operator const std::string&() const { return get(); }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] const std::string& get() const {
    if (!refused_.empty()) {
      throw std::invalid_argument("the text " + refused_ +
                                  " has a character that UTF-8 cannot hold. Remove it.");
    }
    return value_;
  }
  bool read(nanobind::handle object) noexcept;

 private:
  std::string value_;
  std::string refused_;
};

/// A path argument: text, bytes or an os.PathLike.
class PathText {
 public:
  operator const std::filesystem::path&() const { return get(); }  // NOLINT
  [[nodiscard]] const std::filesystem::path& get() const {
    if (!refused_.empty()) {
      throw std::invalid_argument("path: " + refused_ +
                                  " has a character that no file name can hold. Remove it.");
    }
    return value_;
  }
  bool read(nanobind::handle object) noexcept;

 private:
  std::filesystem::path value_;
  std::string refused_;
};

}  // namespace kempe::python

namespace nanobind::detail {

template <>
struct type_caster<kempe::python::Text> {
  NB_TYPE_CASTER(kempe::python::Text, const_name("str"))
  // NOLINTNEXTLINE(readability-identifier-naming): the name that nanobind calls
  bool from_python(handle source, std::uint8_t /*flags*/, cleanup_list* /*cleanup*/) noexcept {
    return value.read(source);
  }
};

template <>
struct type_caster<kempe::python::PathText> {
  NB_TYPE_CASTER(kempe::python::PathText, const_name("str | os.PathLike[str]"))
  // NOLINTNEXTLINE(readability-identifier-naming): the name that nanobind calls
  bool from_python(handle source, std::uint8_t /*flags*/, cleanup_list* /*cleanup*/) noexcept {
    return value.read(source);
  }
};

}  // namespace nanobind::detail
