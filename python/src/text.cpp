#include "text.hpp"

#include <Python.h>

namespace nb = nanobind;

namespace kempe::python {
namespace {

/// The object as Python's ascii() shows it.
std::string ascii(nb::handle object) {
  const nb::object shown = nb::steal(PyObject_ASCII(object.ptr()));
  const char* text = shown.is_valid() ? PyUnicode_AsUTF8(shown.ptr()) : nullptr;
  if (text == nullptr) {
    PyErr_Clear();
    return "given";
  }
  return text;
}

}  // namespace

bool Text::read(nb::handle object) noexcept {
  if (!PyUnicode_Check(object.ptr())) {
    return false;
  }
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
  if (text == nullptr) {
    PyErr_Clear();
    refused_ = ascii(object);
  } else {
    value_.assign(text, static_cast<std::size_t>(size));
  }
  return true;
}

bool PathText::read(nb::handle object) noexcept {
  const nb::object path = nb::steal(PyOS_FSPath(object.ptr()));
  if (!path.is_valid()) {
    PyErr_Clear();
    return false;
  }
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &bytes) == 0) {
    PyErr_Clear();
    refused_ = ascii(path);
    return true;
  }
  const nb::object owner = nb::steal(bytes);
  value_ = std::string(PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes)));
  return true;
}

}  // namespace kempe::python
