#include "keeping.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace kempe::python {

namespace {

struct Kept {
  std::string_view role;
  nb::object object;
};
using KeptObjects = std::vector<Kept>;

/// By keeper. Lives as long as the process: objects are released until its very end.
std::unordered_map<PyObject*, KeptObjects>& table() {
  static auto* keepers = new std::unordered_map<PyObject*, KeptObjects>;
  return *keepers;
}

void onDeath(nb::handle keeper, void (*action)(void*) noexcept) {
#if NB_VERSION_MAJOR >= 3
  nb::keep_alive_cb(keeper, keeper.ptr(), action);
#else
  nb::detail::keep_alive(keeper.ptr(), keeper.ptr(), action);
#endif
}

KeptObjects& keptBy(nb::handle keeper) {
  const auto [entry, isNew] = table().try_emplace(keeper.ptr());
  if (isNew) {
    onDeath(keeper, [](void* self) noexcept {
      // Releasing may run Python, which may call this again: erase the entry first.
      const auto own = table().extract(static_cast<PyObject*>(self));
    });
  }
  return entry->second;
}

int visitOfClass(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return visitKept(self, visit, arg);
}

}  // namespace

void keep(nb::handle keeper, nb::handle kept) {
  KeptObjects& all = keptBy(keeper);
  if (std::ranges::none_of(all, [&](const Kept& one) { return one.object.is(kept); })) {
    all.push_back({"", nb::borrow(kept)});
  }
}

void keepAs(nb::handle keeper, const char* role, nb::handle kept) {
  KeptObjects& all = keptBy(keeper);
  const auto before = std::ranges::find(all, std::string_view(role), &Kept::role);
  if (before != all.end()) {
    const nb::object old = std::exchange(before->object, nb::borrow(kept));
  } else {
    all.push_back({role, nb::borrow(kept)});
  }
}

void keepAllOf(nb::handle keeper, nb::handle other) {
  const auto found = table().find(other.ptr());
  if (found == table().end()) return;
  const KeptObjects objects = found->second;
  for (const Kept& one : objects) keep(keeper, one.object);
}

int visitKept(PyObject* self, visitproc visit, void* arg) {
  const auto found = table().find(self);
  if (found == table().end()) return 0;
  for (const Kept& one : found->second) Py_VISIT(one.object.ptr());
  return 0;
}

int dropKept(PyObject* self) {
  const auto found = table().find(self);
  if (found != table().end()) {
    const KeptObjects objects = std::exchange(found->second, {});
  }
  return 0;
}

// The type `void*` of slots is that of Python's interface.
PyType_Slot keeperSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&visitOfClass)},
                             {Py_tp_clear, reinterpret_cast<void*>(&dropKept)},
                             {0, nullptr}};
PyType_Slot partSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&visitOfClass)}, {0, nullptr}};

}  // namespace kempe::python
