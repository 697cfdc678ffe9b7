#include "arrays.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <stdexcept>

namespace nb = nanobind;

namespace kempe::python {

namespace {

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;

/// Functions of numpy, looked up once and kept for as long as the process lives.
struct Numpy {
  nb::object asarray, ascontiguousarray, copyto, empty, float64, float32, ndarray, maskedArray;

  static const Numpy& get() {
    static const Numpy* numpy = [] {
      const nb::module_ m = nb::module_::import_("numpy");
      return new Numpy{m.attr("asarray"), m.attr("ascontiguousarray"),
                       m.attr("copyto"),  m.attr("empty"),
                       m.attr("float64"), m.attr("float32"),
                       m.attr("ndarray"), m.attr("ma").attr("MaskedArray")};
    }();
    return *numpy;
  }
};

bool isFloating(const AnyArray& array) {
  return array.dtype() == nb::dtype<double>() || array.dtype() == nb::dtype<float>();
}

/// What numpy makes of the object: an array of doubles.
nb::object doublesOf(nb::handle object, const std::string& name) {
  if (object.is_none()) throw std::invalid_argument(name + ": expected an array, got None");
  try {
    const nb::object array = Numpy::get().asarray(object);
    const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
    if (kind != "f" && kind != "i" && kind != "u") {
      throw std::invalid_argument(name + ": expected real numbers, got an array of type " +
                                  nb::cast<std::string>(array.attr("dtype").attr("name")));
    }
    return Numpy::get().asarray(array, Numpy::get().float64);
  } catch (const nb::python_error& error) {
    throw std::invalid_argument(name + ": expected an array of real numbers; " +
                                nb::str(error.value()).c_str());
  }
}

std::string text(std::span<const Eigen::Index> shape) {
  std::string result = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    result += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return result + (shape.size() == 1 ? ",)" : ")");
}

std::vector<Eigen::Index> shapeOf(const AnyArray& array) {
  std::vector<Eigen::Index> shape;
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    shape.push_back(static_cast<Eigen::Index>(array.shape(i)));
  }
  return shape;
}

}  // namespace

// --- arguments -----------------------------------------------------------------------------------

ArrayArgument::ArrayArgument(nb::handle object, const char* name, Eigen::Index entries,
                             const char* meaning)
    : name_(name), meaning_(meaning), entries_(entries) {
  const Numpy& numpy = Numpy::get();
  if (object.type().ptr() != numpy.ndarray.ptr() && nb::isinstance(object, numpy.maskedArray)) {
    throw std::invalid_argument(std::string(name) +
                                ": a masked array, but its masked numbers would be used; fill them "
                                "first, with filled()");
  }
  adopt(nb::borrow(object));
  if (!isBatch_ && entryStride_ != 1) {
    makeRowsContiguous();
  }
}

void ArrayArgument::adopt(nb::object array) {
  AnyArray numbers;
  if (!nb::try_cast(array, numbers, false) || !isFloating(numbers)) {
    array = doublesOf(array, name_);
    numbers = nb::cast<AnyArray>(array, false);
  }
  array_ = std::move(array);
  isFloat_ = numbers.dtype() == nb::dtype<float>();
  isBatch_ = numbers.ndim() == 2;
  const std::size_t last = isBatch_ ? 1 : 0;
  if (numbers.ndim() != last + 1 || static_cast<Eigen::Index>(numbers.shape(last)) != entries_) {
    refuseShape(shapeOf(numbers));
  }
  data_ = numbers.data();
  states_ = isBatch_ ? static_cast<Eigen::Index>(numbers.shape(0)) : 1;
  stateStride_ = isBatch_ ? numbers.stride(0) : 0;
  entryStride_ = entries_ > 1 ? numbers.stride(last) : 1;
}

void ArrayArgument::refuseShape(std::span<const Eigen::Index> shape) const {
  const std::string n = std::to_string(entries_);
  throw std::invalid_argument(std::string(name_) + ": expected an array of shape (" + n +
                              ",), or (N, " + n + ") for N states" +
                              (meaning_ != nullptr ? ", where " + n + " is " + meaning_ : "") +
                              "; got one of shape " + text(shape));
}

void ArrayArgument::widen() {
  if (isFloat_) {
    adopt(doublesOf(array_, name_));
  }
}

void ArrayArgument::makeRowsContiguous() {
  if (entryStride_ != 1) {
    adopt(Numpy::get().ascontiguousarray(array_));
  }
}

Inputs::Inputs(std::initializer_list<ArrayArgument> arguments, Precision precision)
    : arguments_(arguments), precision_(precision) {
  for (const ArrayArgument& argument : arguments_) {
    float_ = float_ && argument.isFloat();
    agreeOnStates(argument);
  }
  if (!computesInFloat()) {
    for (ArrayArgument& argument : arguments_) {
      argument.widen();
    }
  }
}

Inputs::Inputs(std::optional<Eigen::Index> states)
    : precision_(Precision::AsGiven),
      float_(false),
      isBatch_(states.has_value()),
      states_(states.value_or(1)) {}

void Inputs::alsoWith(const ArrayArgument& argument) {
  agreeOnStates(argument);
}

void Inputs::agreeOnStates(const ArrayArgument& argument) {
  if (!argument.isBatch()) return;
  if (isBatch_ && argument.states() != states_) {
    throw std::invalid_argument(std::string(argument.name()) + " has " +
                                std::to_string(argument.states()) + " states, but " + batchName_ +
                                " has " + std::to_string(states_));
  }
  isBatch_ = true;
  states_ = argument.states();
  batchName_ = argument.name();
}

void Inputs::makeRowsContiguous() {
  for (ArrayArgument& argument : arguments_) {
    argument.makeRowsContiguous();
  }
}

// --- results -------------------------------------------------------------------------------------

Result::Result(const Inputs& inputs, std::initializer_list<Eigen::Index> shape, nb::handle out)
    : narrow_(inputs.givesFloat() && !inputs.computesInFloat()) {
  std::vector<Eigen::Index> whole;
  if (inputs.isBatch()) whole.push_back(inputs.states());
  for (const Eigen::Index n : shape) {
    whole.push_back(n);
    entries_ *= n;
  }
  const Numpy& numpy = Numpy::get();
  if (!out.is_none()) {
    nb::ndarray<nb::device::cpu> given;
    const bool floats = inputs.givesFloat();
    if (!nb::try_cast(out, given, false) ||
        given.dtype() != (floats ? nb::dtype<float>() : nb::dtype<double>()) ||
        shapeOf(nb::cast<AnyArray>(out, false)) != whole ||
        !nb::isinstance<nb::ndarray<nb::c_contig>>(out)) {
      throw std::invalid_argument("out: expected a writable, C-contiguous array of " +
                                  std::string(floats ? "float32" : "float64") + " and shape " +
                                  text(whole));
    }
    out_ = nb::borrow(out);
    if (!narrow_) {
      array_ = out_;
      data_ = given.data();
      return;
    }
  }
  nb::list dimensions;
  for (const Eigen::Index n : whole) dimensions.append(n);
  array_ =
      numpy.empty(nb::tuple(dimensions), inputs.computesInFloat() ? numpy.float32 : numpy.float64);
  data_ = nb::cast<nb::ndarray<nb::device::cpu>>(array_, false).data();
}

nb::object Result::array() const {
  if (!narrow_) return array_;
  if (out_.is_valid()) {
    Numpy::get().copyto(out_, array_, "same_kind");
    return out_;
  }
  return array_.attr("astype")(Numpy::get().float32);
}

}  // namespace kempe::python
