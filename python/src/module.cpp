#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <deque>
#include <regex>
#include <string>
#include <utility>

#include "bindings.hpp"
#include "functions.hpp"
#include "kempe/errors.hpp"
#include "kempe/version.hpp"

namespace nb = nanobind;

namespace {

/// Raises an exception of kempe.errors, with attributes in addition to its text.
template <typename... Attributes>
void raise(const char* name, const std::exception& error, const Attributes&... attributes) {
  const nb::object type = nb::module_::import_("kempe.errors").attr(name);
  // Messages quote users' input, which may not be UTF-8.
  const std::string text = error.what();
  const nb::object instance = type(nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace")));
  (nb::setattr(instance, attributes.first, nb::cast(attributes.second)), ...);
  PyErr_SetObject(type.ptr(), instance.ptr());
}

void translateExceptions() {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const kempe::ModelError& error) {
      raise("ModelError", error);
    } catch (const kempe::AssemblyError& error) {
      raise("AssemblyError", error, std::pair("loop", error.loop()), std::pair("gap", error.gap()));
    } catch (const kempe::SingularityError& error) {
      raise("SingularityError", error, std::pair("loop", error.loop()),
            std::pair("condition", error.condition()));
    }
  });
}

}  // namespace

nb::sig kempe::python::signature(std::string text) {
  static const std::pair<const char*, const char*> words[] = {
      {"Named",
       "Mapping[str, ArrayLike] | Mapping[tuple[str, int], ArrayLike] | "
       "Mapping[str | tuple[str, int], ArrayLike]"},  // Mapping is invariant in its keys
      {"ArrayLike", "numpy.typing.ArrayLike"},
      {"NDArray", "numpy.typing.NDArray[typing.Any]"},
      {"Sequence", "collections.abc.Sequence"},
      {"Mapping", "collections.abc.Mapping"},
      {"Callable", "collections.abc.Callable[..., typing.Any]"},
      {"Forces", "collections.abc.Mapping[str | int, numpy.typing.ArrayLike] | None"},
      {"Path", "str | os.PathLike[str]"},
      {"State", "tuple[typing.Any, ...]"},
      {"Frames", "collections.abc.Sequence[str | int] | None"},
      {"Out", "*, out: numpy.typing.NDArray[typing.Any] | None = None"}};
  for (const auto& [word, type] : words) {
    text = std::regex_replace(text, std::regex(std::string("\\b") + word + "\\b"), type);
  }
  static std::deque<std::string> kept;
  return nb::sig(kept.emplace_back(std::move(text)).c_str());
}

NB_MODULE(_kempe, m) {
  // Objects that modules still refer to when the process ends are not leaks.
  nb::set_leak_warnings(false);
  m.doc() = "The compiled part of kempe.";
  m.def("version", &kempe::version, "The version of the library.");
  translateExceptions();
  kempe::python::bindJet(m);
  kempe::python::bindSymbol(m);
  kempe::python::bindCallables(m);
  kempe::python::bindMechanism(m);
  kempe::python::bindModel(m);
  kempe::python::bindSimulator(m);
  kempe::python::bindRecordings(m);
}
