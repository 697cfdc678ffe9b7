#include "functions.hpp"

#include <nanobind/operators.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "keeping.hpp"
#include "kempe/expression.hpp"
#include "kempe/jet.hpp"
#include "shown.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

struct Callables;

/// Link from C++ to the functions of a constraint, valid while a Python object keeps them alive.
struct Link {
  std::string name;                // of the constraint, for errors
  Callables* callables = nullptr;  // access requires the GIL
};
using SharedLink = std::shared_ptr<Link>;

/// φ and its derivatives; None for those that the library derives.
struct Functions {
  nb::object phi, jacobian, curvature;
};

/// Owns functions, as an object of Python that the garbage collector sees.
struct Callables {
  Callables(std::string name, Functions given)
      : functions(std::move(given)), link(std::make_shared<Link>(Link{std::move(name), this})) {}
  Callables(const Callables&) = delete;
  Callables& operator=(const Callables&) = delete;
  ~Callables() { link->callables = nullptr; }

  Functions functions;
  SharedLink link;
};

nb::object ownerOf(const Link& link) {
  return link.callables == nullptr ? nb::object() : nb::find(link.callables);
}

/// The functions, kept alive during the call.
Functions functionsOf(const Link& link) {
  if (link.callables == nullptr || !link.callables->functions.phi.is_valid()) {
    throw std::runtime_error(
        "function \"" + link.name +
        "\" no longer exists: keep the mechanism, the model or the constraints "
        "that it belongs to");
  }
  return link.callables->functions;
}

int visitCallables(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const Functions& functions = nb::inst_ptr<Callables>(self)->functions;
  Py_VISIT(functions.phi.ptr());
  Py_VISIT(functions.jacobian.ptr());
  Py_VISIT(functions.curvature.ptr());
  return 0;
}

int clearCallables(PyObject* self) {
  const Functions dropped = std::exchange(nb::inst_ptr<Callables>(self)->functions, {});
  return 0;
}

PyType_Slot callablesSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&visitCallables)},
                                {Py_tp_clear, reinterpret_cast<void*>(&clearCallables)},
                                {0, nullptr}};

/// A new owner of functions.
std::pair<SharedLink, nb::object> owned(const std::string& name, Functions functions) {
  auto* callables = new Callables(name, std::move(functions));
  return {callables->link, nb::cast(callables, nb::rv_policy::take_ownership)};
}

/// An array of numbers, jets or symbols, for a function to compute with, but not to write to.
template <typename Number>
nb::object arrayOf(std::span<const Number> numbers) {
  nb::list list;
  for (const Number& number : numbers) list.append(nb::cast(number));
  const nb::module_ numpy = nb::module_::import_("numpy");
  nb::object array =
      numpy.attr("array")(list, std::is_same_v<Number, double> ? "float64" : "object");
  array.attr("setflags")("write"_a = false);
  return array;
}

template <typename Number>
Number numberFrom(nb::handle object, const std::string& what) {
  if constexpr (!std::is_same_v<Number, double>) {
    Number own;
    if (nb::try_cast(object, own, false)) return own;
  }
  const double number = PyFloat_AsDouble(object.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw std::invalid_argument(what + " returned " + shown(object) + ", which is not a number");
  }
  return number;
}

/// The result of a function: `count` numbers, in an array of any shape.
template <typename Number>
std::vector<Number> numbersFrom(const nb::object& returned, std::size_t count,
                                const std::string& what) {
  const nb::object flat =
      nb::module_::import_("numpy").attr("asarray")(returned, "object").attr("ravel")();
  if (nb::len(flat) != count) {
    throw std::invalid_argument(what + " must return " + std::to_string(count) + " number" +
                                (count == 1 ? "" : "s") + ", but returned " + shown(returned));
  }
  std::vector<Number> numbers;
  for (const nb::handle entry : flat) numbers.push_back(numberFrom<Number>(entry, what));
  return numbers;
}

/// The result of a Jacobian: rows × columns numbers, or a plain list of them for one row.
template <typename Number>
std::vector<Number> matrixFrom(const nb::object& returned, std::size_t rows, std::size_t columns,
                               const std::string& what) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object shape = numpy.attr("shape")(numpy.attr("asarray")(returned, "object"));
  if (rows > 1 && !shape.equal(nb::make_tuple(rows, columns))) {
    throw std::invalid_argument(what + " must return " + std::to_string(rows) + " × " +
                                std::to_string(columns) + " numbers, but returned some of shape " +
                                nb::cast<std::string>(nb::str(shape)));
  }
  return numbersFrom<Number>(returned, rows * columns, what);
}

/// φ on numbers.
struct PythonValue {
  SharedLink link;

  void operator()(std::span<const double> q, std::span<double> phi) const {
    const nb::gil_scoped_acquire locked;
    const Functions of = functionsOf(*link);
    const std::vector<double> values =
        numbersFrom<double>(of.phi(arrayOf(q)), phi.size(), "function \"" + link->name + "\"");
    std::copy(values.begin(), values.end(), phi.begin());
  }
};

/// `compute()` with jets; if differentiation fails, the error suggests a remedy.
template <typename Compute>
auto withJets(const std::string& what, const Compute& compute) {
  try {
    return compute();
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_TypeError)) {
      nb::raise_from(error, PyExc_TypeError,
                     "%s cannot be differentiated: %s. Compute with arithmetic and the functions "
                     "of numpy that kempe.Jet has, or give the derivative",
                     what.c_str(), nb::str(error.value()).c_str());
    }
    throw;
  }
}

/// φ on jets.
struct PythonJet {
  SharedLink link;

  void operator()(std::span<const Jet> q, std::span<Jet> phi) const {
    const nb::gil_scoped_acquire locked;
    const Functions of = functionsOf(*link);
    if (of.jacobian.is_none()) {
      const std::string name = "function \"" + link->name + "\"";
      const std::vector<Jet> values =
          numbersFrom<Jet>(withJets(name, [&] { return of.phi(arrayOf(q)); }), phi.size(), name);
      std::copy(values.begin(), values.end(), phi.begin());
      return;
    }
    const std::size_t n = q.size();
    std::vector<double> position(n), direction(n), bend(n);
    for (std::size_t i = 0; i < n; ++i) {
      position[i] = q[i].value;
      direction[i] = q[i].first;
      bend[i] = q[i].second;
    }
    const nb::object at = arrayOf<double>(position);
    const std::string name = " of function \"" + link->name + "\"";
    const std::vector<double> value =
        numbersFrom<double>(of.phi(at), phi.size(), "function \"" + link->name + "\"");
    const std::vector<double> K =
        matrixFrom<double>(of.jacobian(at), phi.size(), n, "jacobian" + name);
    const std::vector<double> curvature = curvatureAlong(of, position, direction, phi.size(), name);
    for (std::size_t r = 0; r < phi.size(); ++r) {
      phi[r] = Jet(value[r], 0.0, curvature[r]);
      for (std::size_t i = 0; i < n; ++i) {
        phi[r].first += K[r * n + i] * direction[i];
        phi[r].second += K[r * n + i] * bend[i];
      }
    }
  }

 private:
  /// φ″[v, v]: as given, or K̇ v with K̇ by jets.
  static std::vector<double> curvatureAlong(const Functions& of, const std::vector<double>& q,
                                            const std::vector<double>& v, std::size_t rows,
                                            const std::string& name) {
    if (!of.curvature.is_none()) {
      return numbersFrom<double>(of.curvature(arrayOf<double>(q), arrayOf<double>(v)), rows,
                                 "curvature" + name);
    }
    const std::size_t n = q.size();
    std::vector<Jet> along;
    for (std::size_t i = 0; i < n; ++i) along.emplace_back(q[i], v[i], 0.0);
    const std::vector<Jet> K = matrixFrom<Jet>(
        withJets("jacobian" + name, [&] { return of.jacobian(arrayOf<Jet>(along)); }), rows, n,
        "jacobian" + name);
    std::vector<double> result(rows, 0.0);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t i = 0; i < n; ++i) result[r] += K[r * n + i].first * v[i];
    }
    return result;
  }
};

/// `compute()` with symbols. A function that cannot is not traced, whatever its reason.
template <typename Compute>
std::vector<Symbol> withSymbols(std::size_t rows, const std::string& name, const Compute& compute) {
  try {
    return numbersFrom<Symbol>(compute(), rows, name);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;  // KeyboardInterrupt
    std::string reason = nb::cast<std::string>(nb::str(error.value()));
    reason.erase(reason.find_last_not_of(". \n") + 1);
    throw TracingError("it cannot be computed with symbols (" + reason +
                       "). Compute with arithmetic and the functions of numpy or kempe.math, and "
                       "use kempe.math.select instead of branches.");
  } catch (const std::invalid_argument& error) {
    throw TracingError(error.what());
  }
}

/// φ on symbols.
struct PythonSymbolic {
  SharedLink link;

  void operator()(std::span<const Symbol> q, std::span<Symbol> phi) const {
    const nb::gil_scoped_acquire locked;
    const Functions of = functionsOf(*link);
    const std::vector<Symbol> values = withSymbols(phi.size(), "function \"" + link->name + "\"",
                                                   [&] { return of.phi(arrayOf(q)); });
    std::copy(values.begin(), values.end(), phi.begin());
  }
};

/// φ(q, t) on numbers or jets.
struct PythonTimed {
  SharedLink link;

  template <typename Number>
  void operator()(std::span<const Number> q, const Number& t, std::span<Number> phi) const {
    const nb::gil_scoped_acquire locked;
    const Functions of = functionsOf(*link);
    const std::string name = "constraint \"" + link->name + "\"";
    const std::vector<Number> values = numbersFrom<Number>(
        withJets(name, [&] { return of.phi(arrayOf(q), nb::cast(t)); }), phi.size(), name);
    std::copy(values.begin(), values.end(), phi.begin());
  }

  void operator()(std::span<const Symbol> q, const Symbol& t, std::span<Symbol> phi) const {
    const nb::gil_scoped_acquire locked;
    const Functions of = functionsOf(*link);
    const std::vector<Symbol> values = withSymbols(phi.size(), "constraint \"" + link->name + "\"",
                                                   [&] { return of.phi(arrayOf(q), nb::cast(t)); });
    std::copy(values.begin(), values.end(), phi.begin());
  }
};

/// A motion of one coordinate.
struct PythonMotion {
  SharedLink link;

  PrescribedMotion operator()(double t) const {
    const nb::gil_scoped_acquire locked;
    const Functions of = functionsOf(*link);
    const std::vector<double> values =
        numbersFrom<double>(of.phi(t), 3, "motion of constraint \"" + link->name + "\"");
    return {values[0], values[1], values[2]};
  }
};

std::pair<SharedLink, nb::object> ownedFunction(const std::string& constraint, const char* what,
                                                const nb::object& callable) {
  if (PyCallable_Check(callable.ptr()) == 0) {
    throw std::invalid_argument("constraint \"" + constraint + "\": " + what +
                                " must be a function, got " + shown(callable));
  }
  return owned(constraint, {callable, nb::none(), nb::none()});
}

/// Compares first and second derivatives of a function along each coordinate, and all at once,
/// with finite differences. Returns a description of the error; empty if φ cannot be computed near
/// q.
std::string wrongDerivative(const Function& function, const std::vector<double>& q) {
  const std::size_t n = q.size();
  const auto rows = static_cast<std::size_t>(function.rows);
  constexpr double kStep = 1e-4;
  for (std::size_t direction = 0; direction <= n; ++direction) {
    std::vector<Jet> along;
    for (std::size_t i = 0; i < n; ++i) {
      along.emplace_back(q[i], direction == i || direction == n ? 1.0 : 0.0, 0.0);
    }
    std::vector<double> values[3];
    for (int side = 0; side < 3; ++side) {
      std::vector<double> at(n);
      for (std::size_t i = 0; i < n; ++i) {
        at[i] = along[i].value + (side - 1) * kStep * along[i].first;
      }
      values[side].resize(rows);
      try {
        function.value(at, values[side]);
      } catch (nb::python_error&) {
        return {};  // not defined here
      }
    }
    std::vector<Jet> phi(rows);
    function.jet(along, phi);
    for (std::size_t r = 0; r < rows; ++r) {
      const double first = (values[2][r] - values[0][r]) / (2 * kStep);
      const double second = (values[2][r] - 2 * values[1][r] + values[0][r]) / (kStep * kStep);
      if (!std::isfinite(first) || !std::isfinite(second)) return {};
      const double scale =
          std::max({1.0, std::abs(values[1][r]), std::abs(first), std::abs(second)});
      const auto differs = [&](double given, double found) {
        return !(std::abs(given - found) <= 1e-3 * scale);  // true for NaN
      };
      const bool wrongFirst = differs(phi[r].first, first);
      if (wrongFirst || differs(phi[r].second, second)) {
        const std::string way = direction == n
                                    ? "all coordinates"
                                    : "\"" + function.coordinates[direction].joint + "\"";
        return "its " + std::string(wrongFirst ? "first" : "second") + " derivative along " + way +
               " is given as " + std::to_string(wrongFirst ? phi[r].first : phi[r].second) +
               " in row " + std::to_string(r) + ", but differences of phi give " +
               std::to_string(wrongFirst ? first : second);
      }
    }
  }
  return {};
}

}  // namespace

void bindCallables(nb::module_& m) {
  nb::class_<Callables>(m, "_Callables", nb::type_slots(callablesSlots));
}

nb::object setCallables(Function& function, const nb::object& phi, const nb::object& jacobian,
                        const nb::object& curvature) {
  for (const auto& [what, callable, optional] : {std::tuple{"phi", phi, false},
                                                 {"jacobian", jacobian, true},
                                                 {"curvature", curvature, true}}) {
    if (PyCallable_Check(callable.ptr()) == 0 && !(optional && callable.is_none())) {
      throw std::invalid_argument("function \"" + function.name + "\": " + what +
                                  " must be a function, got " + shown(callable));
    }
  }
  if (jacobian.is_none() && !curvature.is_none()) {
    throw std::invalid_argument("function \"" + function.name +
                                "\": curvature is given, but jacobian is not; give both, or the "
                                "jacobian alone, or neither");
  }
  auto [link, owner] = owned(function.name, {phi, jacobian, curvature});
  function.symbolic = PythonSymbolic{link};
  function.value = PythonValue{link};
  function.jet = PythonJet{link};
  return owner;
}

nb::object setCallable(TimedFunction& function, const nb::object& phi) {
  auto [link, owner] = ownedFunction(function.name, "phi", phi);
  const PythonTimed timed{link};
  function.symbolic = [timed](std::span<const Symbol> q, const Symbol& t, std::span<Symbol> out) {
    timed(q, t, out);
  };
  function.value = [timed](std::span<const double> q, double t, std::span<double> out) {
    timed.operator()<double>(q, t, out);
  };
  function.jet = [timed](std::span<const Jet> q, const Jet& t, std::span<Jet> out) {
    timed.operator()<Jet>(q, t, out);
  };
  return owner;
}

std::pair<std::function<PrescribedMotion(double)>, nb::object> motionFrom(
    const std::string& constraint, const nb::object& motion) {
  auto [link, owner] = ownedFunction(constraint, "motion", motion);
  return {PythonMotion{link}, owner};
}

void keepFunctions(nb::handle keeper, const Function& function) {
  const auto* python = function.value.target<PythonValue>();
  if (python == nullptr) return;
  const nb::object owner = ownerOf(*python->link);
  if (owner.is_valid()) keep(keeper, owner);
}

void keepFunctions(nb::handle keeper, const Mechanism& mechanism) {
  for (const Function& function : mechanism.functions) keepFunctions(keeper, function);
}

void checkDerivatives(const Mechanism& mechanism) {
  for (const Function& function : mechanism.functions) {
    const auto* python = function.value.target<PythonValue>();
    if (python == nullptr || functionsOf(*python->link).jacobian.is_none()) continue;
    // Not at zero, where functions often have corners.
    for (const double unit : {0.1, -0.07}) {
      std::vector<double> q;
      for (std::size_t i = 0; i < function.coordinates.size(); ++i) {
        q.push_back(unit * static_cast<double>(i + 1));
      }
      const std::string wrong = wrongDerivative(function, q);
      if (!wrong.empty()) {
        throw ModelError(mechanism.place() + "function \"" + function.name + "\": " + wrong +
                         ". Correct jacobian or curvature, or leave them out.");
      }
    }
  }
}

nb::tuple originOf(const Function& function) {
  try {
    return nb::make_tuple(function.traced().text());
  } catch (const TracingError& error) {
    if (const auto* python = function.value.target<PythonValue>()) {
      const Functions of = functionsOf(*python->link);
      return nb::make_tuple(of.phi, of.jacobian, of.curvature);
    }
    throw std::invalid_argument("function \"" + function.name +
                                "\" was written in C++ and is not a formula, so it cannot be "
                                "copied to another process: " +
                                error.what());
  }
}

void restore(nb::handle keeper, Function& function, nb::handle origin) {
  if (nb::isinstance<nb::str>(origin[0])) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < function.coordinates.size(); ++i) {
      names.push_back("x" + std::to_string(i));  // as Expression::text() names them
    }
    function.expression = Expression::parse(nb::cast<std::string>(origin[0]), names);
    return;
  }
  keep(keeper, setCallables(function, origin[0], origin[1], origin[2]));
}

}  // namespace kempe::python
