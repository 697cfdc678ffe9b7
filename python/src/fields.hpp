#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "bindings.hpp"
#include "conversions.hpp"

/// Classes whose members are attributes in Python, to read, to set, to copy and to pickle.
namespace kempe::python {

/// `access` gives the member of an object: a pointer to member, or a function.
template <typename Access>
struct Field {
  const char* name;
  Access access;
  const char* text;
};
template <typename Access>
Field<Access> field(const char* name, Access access, const char* text = "") {
  return {name, access, text};
}

template <typename Class, typename Access>
void bindField(nanobind::class_<Class>& bound, const Field<Access>& field) {
  using Value = std::remove_cvref_t<std::invoke_result_t<Access, Class&>>;
  const Access access = field.access;
  const char* name = field.name;
  const std::string definition = std::string("def ") + name + "(self";
  bound.def_prop_rw(
      name, [access](Class& self) { return Conversion<Value>::write(std::invoke(access, self)); },
      [access, name](Class& self, nanobind::handle value) {
        std::invoke(access, self) = Conversion<Value>::read(value, name);
      },
      nanobind::arg().none(),
      nanobind::for_getter(signature(definition + ") -> " + Conversion<Value>::type)),
      nanobind::for_setter(signature(definition + ", value: typing.Any) -> None")), field.text);
}

template <typename Class, typename... Accesses>
void bindFields(nanobind::class_<Class>& bound, const Field<Accesses>&... fields) {
  (bindField(bound, fields), ...);
  const std::tuple<Field<Accesses>...> all(fields...);
  bound.def(
      "__getstate__",
      [all](Class& self) {
        nanobind::list state;
        const auto add = [&](const auto& f) {
          using Value = std::remove_cvref_t<decltype(std::invoke(f.access, self))>;
          state.append(Conversion<Value>::write(std::invoke(f.access, self)));
        };
        std::apply([&](const auto&... f) { (add(f), ...); }, all);
        return nanobind::tuple(state);
      },
      signature("def __getstate__(self) -> State"));
  bound.def(
      "__setstate__",
      [all](Class& self, const nanobind::tuple& state) {
        new (&self) Class();
        std::size_t i = 0;
        const auto take = [&](const auto& f) {
          auto& member = std::invoke(f.access, self);
          member = Conversion<std::remove_cvref_t<decltype(member)>>::read(state[i++], f.name);
        };
        std::apply([&](const auto&... f) { (take(f), ...); }, all);
      },
      signature("def __setstate__(self, state: State) -> None"));
  bound.def("__copy__", [](const Class& self) { return Class(self); });
  bound.def(
      "__deepcopy__", [](const Class& self, nanobind::handle) { return Class(self); },
      nanobind::arg("memo"));
  bound.def("__repr__", [](nanobind::handle self) {
    const nanobind::str type(self.type().attr("__name__"));
    return nanobind::str(nanobind::str("<kempe.{} {!r}>").attr("format")(type, self.attr("name")));
  });
}

}  // namespace kempe::python
