#include "arrays.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "shown.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

/// Functions of numpy, looked up once and kept for as long as the process lives.
struct Numpy {
  nb::object asarray, array, require, fromDlpack, copyto, empty, float64, float32, ndarray,
      maskedArray;

  static const Numpy& get() {
    static const Numpy* numpy = [] {
      const nb::module_ m = nb::module_::import_("numpy");
      return new Numpy{m.attr("asarray"), m.attr("array"),
                       m.attr("require"), m.attr("from_dlpack"),
                       m.attr("copyto"),  m.attr("empty"),
                       m.attr("float64"), m.attr("float32"),
                       m.attr("ndarray"), m.attr("ma").attr("MaskedArray")};
    }();
    return *numpy;
  }
};

constexpr int kMostDimensions = 4;  // of any array of this module

/// An array of doubles or floats that can be read, or written, in place.
struct View {
  void* data = nullptr;
  bool isFloat = false;
  int dimensions = 0;
  Eigen::Index shape[kMostDimensions] = {}, strides[kMostDimensions] = {};  // in elements

  [[nodiscard]] bool isContiguous() const {
    Eigen::Index expected = 1;
    for (int i = dimensions - 1; i >= 0; --i) {
      if (shape[i] == 0) return true;
      if (shape[i] > 1 && strides[i] != expected) return false;
      expected *= shape[i];
    }
    return true;
  }
};

/// View of a NumPy array; nullopt if the array has another element type, is not aligned, or is
/// read-only although `writable` is requested.
std::optional<View> viewOf(nb::handle array, bool writable = false) {
  Py_buffer buffer;
  const int flags = PyBUF_FORMAT | PyBUF_STRIDES | (writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(array.ptr(), &buffer, flags) != 0) {
    PyErr_Clear();  // dates, for instance, have no buffer
    return std::nullopt;
  }
  View view;
  view.data = buffer.buf;
  view.dimensions = buffer.ndim;
  const std::string_view format = buffer.format == nullptr ? "" : buffer.format;
  view.isFloat = format == "f";
  const Py_ssize_t size = view.isFloat ? sizeof(float) : sizeof(double);
  bool usable =
      (format == "d" || format == "f") && buffer.itemsize == size &&
      reinterpret_cast<std::uintptr_t>(buffer.buf) % static_cast<std::size_t>(size) == 0 &&
      buffer.ndim <= kMostDimensions;
  for (int i = 0; usable && i < buffer.ndim; ++i) {
    view.shape[i] = buffer.shape[i];
    view.strides[i] = buffer.strides[i] / size;
    usable = buffer.strides[i] % size == 0;
  }
  PyBuffer_Release(&buffer);  // the array keeps the memory, and the caller the array
  return usable ? std::optional(view) : std::nullopt;
}

bool isArray(nb::handle object) {
  const Numpy& numpy = Numpy::get();
  return object.type().is(numpy.ndarray) || nb::isinstance(object, numpy.ndarray);
}

/// An object converted to a NumPy array, which shares its memory if possible.
nb::object arrayFrom(nb::handle object) {
  const Numpy& numpy = Numpy::get();
  if (!isArray(object) && !nb::hasattr(object, "__array__") &&
      PyObject_CheckBuffer(object.ptr()) == 0 && nb::hasattr(object, "__dlpack__")) {
    return numpy.fromDlpack(object);
  }
  return numpy.asarray(object);
}

/// An array of doubles that viewOf() can read.
nb::object doublesOf(nb::handle object, const std::string& name) {
  if (object.is_none()) throw std::invalid_argument(name + ": expected an array, got None");
  try {
    const nb::object array = arrayFrom(object);
    const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
    if (kind != "f" && kind != "i" && kind != "u") {
      throw std::invalid_argument(name + ": expected real numbers, got an array of type " +
                                  textOf(array.attr("dtype").attr("name")));
    }
    return Numpy::get().require(array, Numpy::get().float64, "A");  // aligned
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_Exception) || error.matches(PyExc_MemoryError)) throw;
    throw std::invalid_argument(name + ": expected an array of real numbers; " +
                                textOf(error.value()));
  }
}

std::string text(const std::vector<Eigen::Index>& shape) {
  std::string result = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    result += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return result + (shape.size() == 1 ? ",)" : ")");
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
  std::optional<View> view;
  if (isArray(array)) view = viewOf(array);
  if (!view) {
    array = doublesOf(array, name_);
    view = viewOf(array);
    if (!view) refuseShape(array);  // more dimensions than kMostDimensions
  }
  array_ = std::move(array);
  isFloat_ = view->isFloat;
  isBatch_ = view->dimensions == 2;
  const int last = isBatch_ ? 1 : 0;
  if (view->dimensions != last + 1 || view->shape[last] != entries_) refuseShape(array_);
  data_ = view->data;
  states_ = isBatch_ ? view->shape[0] : 1;
  stateStride_ = isBatch_ ? view->strides[0] : 0;
  entryStride_ = entries_ > 1 ? view->strides[last] : 1;
}

void ArrayArgument::refuseShape(nb::handle array) const {
  const std::string n = std::to_string(entries_);
  throw std::invalid_argument(std::string(name_) + ": expected an array of shape (" + n +
                              ",), or (N, " + n + ") for N states" +
                              (meaning_ != nullptr ? ", where " + n + " is " + meaning_ : "") +
                              "; got one of shape " + textOf(array.attr("shape")));
}

void ArrayArgument::widen() {
  if (isFloat_) {
    adopt(doublesOf(array_, name_));
  }
}

void ArrayArgument::makeRowsContiguous() {
  if (entryStride_ != 1) {
    adopt(Numpy::get().array(array_, "order"_a = "C"));
  }
}

bool ArrayArgument::overlaps(const ResultMemory& result) const {
  if (states_ == 0 || entries_ == 0 || result.bytes() == 0) return false;
  const auto size = static_cast<Eigen::Index>(isFloat_ ? sizeof(float) : sizeof(double));
  const Eigen::Index alongStates = (states_ - 1) * stateStride_ * size;
  const Eigen::Index alongEntries = (entries_ - 1) * entryStride_ * size;
  // As numbers: pointers into different arrays cannot be compared.
  const auto start = static_cast<Eigen::Index>(reinterpret_cast<std::uintptr_t>(data_));
  const auto other = static_cast<Eigen::Index>(reinterpret_cast<std::uintptr_t>(result.data));
  const Eigen::Index first =
      start + std::min<Eigen::Index>(0, alongStates) + std::min<Eigen::Index>(0, alongEntries);
  const Eigen::Index end = start + std::max<Eigen::Index>(0, alongStates) +
                           std::max<Eigen::Index>(0, alongEntries) + size;
  return first < other + result.bytes() && other < end;
}

bool ArrayArgument::hasTheRowsOf(const ResultMemory& result) const {
  return data_ == result.data && isFloat_ == result.isFloat && entries_ == result.entries &&
         entryStride_ == 1 && states_ == result.states &&
         (states_ == 1 || stateStride_ == entries_);
}

void ArrayArgument::separateFrom(const ResultMemory& result) {
  if (overlaps(result) && !hasTheRowsOf(result)) {
    adopt(Numpy::get().array(array_, "order"_a = "C"));
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

void Inputs::separateFrom(const ResultMemory& result) {
  for (ArrayArgument& argument : arguments_) {
    argument.separateFrom(result);
  }
}

// --- results -------------------------------------------------------------------------------------

namespace {

/// `out` as a NumPy array; throws ValueError where a result cannot be written to it.
nb::object writableArray(nb::handle out, bool floats, const std::vector<Eigen::Index>& shape) {
  try {
    if (isArray(out) || PyObject_CheckBuffer(out.ptr()) != 0 || nb::hasattr(out, "__dlpack__")) {
      nb::object array = arrayFrom(out);
      const std::optional<View> view = viewOf(array, true);
      if (view && view->isFloat == floats && view->isContiguous() &&
          std::equal(shape.begin(), shape.end(), view->shape, view->shape + view->dimensions)) {
        return array;
      }
    }
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;
  }
  throw std::invalid_argument("out: expected a writable, C-contiguous array of " +
                              std::string(floats ? "float32" : "float64") + " and shape " +
                              text(shape));
}

}  // namespace

Result::Result(Inputs& inputs, std::initializer_list<Eigen::Index> shape, nb::handle out)
    : memory_{nullptr, inputs.states(), 1, inputs.computesInFloat()},
      narrow_(inputs.givesFloat() && !inputs.computesInFloat()) {
  std::vector<Eigen::Index> whole;
  if (inputs.isBatch()) whole.push_back(inputs.states());
  for (const Eigen::Index n : shape) {
    whole.push_back(n);
    memory_.entries *= n;
  }
  if (!out.is_none()) {
    outArray_ = writableArray(out, inputs.givesFloat(), whole);
    out_ = nb::borrow(out);
  }
  if (out_.is_valid() && !narrow_) {
    array_ = outArray_;
  } else {
    const Numpy& numpy = Numpy::get();
    nb::list dimensions;
    for (const Eigen::Index n : whole) dimensions.append(n);
    array_ = numpy.empty(nb::tuple(dimensions),
                         inputs.computesInFloat() ? numpy.float32 : numpy.float64);
  }
  data_ = viewOf(array_, true).value().data;
  memory_.data = data_;
  if (out_.is_valid()) inputs.separateFrom(memory_);
}

nb::object Result::array() const {
  if (out_.is_valid()) {
    if (narrow_) Numpy::get().copyto(outArray_, array_, "same_kind");
    return out_;
  }
  return narrow_ ? array_.attr("astype")(Numpy::get().float32) : array_;
}

}  // namespace kempe::python
