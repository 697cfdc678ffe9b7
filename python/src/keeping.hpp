#pragma once

#include <nanobind/nanobind.h>

/// References from one Python object to another that the garbage collector can follow.
///
/// The library calls Python functions (constraints, controllers) that often refer back to the
/// object that they were given to. C++ therefore does not own them: the Python objects of
/// mechanisms, models, constraints and simulators do, by the references that are kept here.
namespace kempe::python {

/// `keeper` refers to `kept` for as long as it lives. Its class must have the slots below.
void keep(nanobind::handle keeper, nanobind::handle kept);
/// The same, replacing the object that had this role before; None: removes it.
void keepAs(nanobind::handle keeper, const char* role, nanobind::handle kept);
/// `keeper` refers to all that `other` refers to now.
void keepAllOf(nanobind::handle keeper, nanobind::handle other);

/// For tp_traverse of a class that has references of its own in addition to those kept here.
int visitKept(PyObject* self, visitproc visit, void* arg);
int dropKept(PyObject* self);

/// Slots of classes that keep objects.
extern PyType_Slot keeperSlots[];
/// Slots of parts of a larger object, which they keep: a part must not outlive it, so that the
/// collector has to break circles elsewhere.
extern PyType_Slot partSlots[];

}  // namespace kempe::python
