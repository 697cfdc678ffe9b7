#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

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

NB_MODULE(_kempe, m) {
  m.doc() = "The compiled part of kempe.";
  m.attr("__version__") = kempe::version();
  addExceptions(m);
  kempe::python::bindModel(m);
}
