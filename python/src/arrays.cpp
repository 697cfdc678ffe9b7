#include "arrays.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>

namespace nb = nanobind;

namespace kempe::python {

namespace {

using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

/// What numpy makes of the object: an array of doubles, contiguous.
nb::object throughNumpy(nb::handle object, const std::string& name) {
  try {
    const nb::module_ numpy = nb::module_::import_("numpy");
    nb::object array = numpy.attr("asarray")(object);
    const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
    if (kind != "f" && kind != "i" && kind != "u") {
      throw std::invalid_argument(name + ": expected real numbers, got an array of type " +
                                  nb::cast<std::string>(array.attr("dtype").attr("name")));
    }
    return numpy.attr("ascontiguousarray")(array, "float64");
  } catch (const nb::python_error& error) {
    throw std::invalid_argument(name + ": expected a vector of real numbers; " + error.what());
  }
}

}  // namespace

VectorArgument::VectorArgument(nb::handle object, const char* name) : array_(nb::borrow(object)) {
  Doubles numbers;
  if (!nb::try_cast(array_, numbers, false)) {
    array_ = throughNumpy(object, name);
    numbers = nb::cast<Doubles>(array_, false);
  }
  if (numbers.ndim() != 1) {
    throw std::invalid_argument(std::string(name) + ": expected a vector, got an array with " +
                                std::to_string(numbers.ndim()) + " dimensions");
  }
  data_ = numbers.data();
  size_ = static_cast<Eigen::Index>(numbers.shape(0));
}

}  // namespace kempe::python
