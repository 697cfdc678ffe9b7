#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <deque>
#include <regex>
#include <string>
#include <utility>

#include "bindings.hpp"
#include "kempe/errors.hpp"
#include "kempe/version.hpp"

namespace nb = nanobind;

namespace {

PyObject* addException(nb::module_& m, const char* name, const char* text) {
  const std::string qualified = std::string("kempe.") + name;
  PyObject* type = PyErr_NewExceptionWithDoc(qualified.c_str(), text, PyExc_RuntimeError, nullptr);
  if (type == nullptr) throw nb::python_error();
  m.attr(name) = nb::handle(type);
  return type;  // kept for as long as the process lives
}

PyObject* modelError = nullptr;
PyObject* assemblyError = nullptr;
PyObject* singularityError = nullptr;

/// Raises an exception of `type` that says which loop it is about, and one number about it.
template <typename Error>
void raise(PyObject* type, const Error& error, const char* numberName, double number) {
  nb::object instance = nb::handle(type)(error.what());
  instance.attr("loop") = error.loop();
  instance.attr(numberName) = number;
  PyErr_SetObject(type, instance.ptr());
}

void addExceptions(nb::module_& m) {
  modelError =
      addException(m, "ModelError",
                   "A file or mechanism that cannot become a model. The text names file, line, "
                   "element and remedy.");
  assemblyError = addException(
      m, "AssemblyError",
      "A configuration whose loops cannot be closed: `loop` is the one that is furthest open, "
      "`gap` how far, in metres (or radians, for a loop that only couples angles).");
  singularityError =
      addException(m, "SingularityError",
                   "A position in which the independent coordinates do not determine the others (a "
                   "dead point): `loop` is the one that is singular, `condition` the condition "
                   "number of its constraint Jacobian.");
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const kempe::ModelError& error) {
      PyErr_SetString(modelError, error.what());
    } catch (const kempe::AssemblyError& error) {
      raise(assemblyError, error, "gap", error.gap());
    } catch (const kempe::SingularityError& error) {
      raise(singularityError, error, "condition", error.condition());
    }
  });
}

}  // namespace

nb::sig kempe::python::signature(std::string text) {
  static const std::pair<const char*, const char*> words[] = {
      {"ArrayLike", "numpy.typing.ArrayLike"},
      {"NDArray", "numpy.typing.NDArray[typing.Any]"},
      {"Sequence", "collections.abc.Sequence"},
      {"Mapping", "collections.abc.Mapping"},
      {"Callable", "collections.abc.Callable[..., typing.Any]"},
      {"Forces", "collections.abc.Mapping[str | int, numpy.typing.ArrayLike] | None"},
      {"Frames", "collections.abc.Sequence[str | int] | None"},
      {"Out", "*, out: numpy.typing.NDArray[typing.Any] | None = None"}};
  for (const auto& [word, type] : words) {
    text = std::regex_replace(text, std::regex(std::string("\\b") + word + "\\b"), type);
  }
  static std::deque<std::string> kept;
  return nb::sig(kept.emplace_back(std::move(text)).c_str());
}

NB_MODULE(_kempe, m) {
  // A constraint function in Python keeps its module alive, and that often the mechanism: such
  // circles last until the process ends, which is no news to its user.
  nb::set_leak_warnings(false);
  m.doc() = "The compiled part of kempe.";
  m.attr("__version__") = kempe::version();
  addExceptions(m);
  kempe::python::bindJet(m);
  kempe::python::bindMechanism(m);
  kempe::python::bindModel(m);
}
