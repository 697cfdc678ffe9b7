#include "shown.hpp"

namespace nb = nanobind;

namespace kempe::python {

namespace {

constexpr Py_ssize_t kLongest = 200;  // characters

std::string asText(nb::handle object, PyObject* (*convert)(PyObject*)) {
  try {
    nb::object text = nb::steal(convert(object.ptr()));
    if (!text.is_valid()) throw nb::python_error();
    const bool isLong = PyUnicode_GetLength(text.ptr()) > kLongest;
    if (isLong) text = nb::steal(PyUnicode_Substring(text.ptr(), 0, kLongest));
    const nb::object bytes = text.attr("encode")("utf-8", "backslashreplace");
    return std::string(PyBytes_AsString(bytes.ptr())) + (isLong ? " …" : "");
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;  // Ctrl-C
    const nb::object name = object.type().attr("__name__");
    const char* type = PyUnicode_AsUTF8(name.ptr());
    if (type == nullptr) PyErr_Clear();
    return std::string("an object of type ") + (type == nullptr ? "?" : type);
  }
}

}  // namespace

std::string shown(nb::handle object) {
  return asText(object, &PyObject_Repr);
}

std::string textOf(nb::handle object) {
  return asText(object, &PyObject_Str);
}

}  // namespace kempe::python
