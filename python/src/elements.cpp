#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "flexible.hpp"
#include "keeping.hpp"
#include "kempe/finite_elements.hpp"
#include "kempe/matrix_files.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace kempe::python {

namespace {

using SparseMatrix = Eigen::SparseMatrix<double>;

std::string shown(nb::handle object) {
  return nb::cast<std::string>(nb::str(object));
}

[[noreturn]] void refuse(const std::string& text) {
  throw std::invalid_argument("add_flexible_body: " + text);
}

/// A NumPy array of so many dimensions, as doubles or 64-bit integers in C order.
nb::object arrayOf(nb::handle object, const std::string& name, int dimensions, const char* type) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  const nb::object array = numpy.attr("asarray")(object);
  const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (kind.find_first_of(type[0] == 'i' ? "iu" : "fiub") == std::string::npos) {
    refuse(name + " must hold real numbers, not " + shown(array.attr("dtype")) + ".");
  }
  if (nb::cast<int>(array.attr("ndim")) != dimensions) {
    refuse(name + " must have " + std::to_string(dimensions) + " dimensions; its shape is " +
           shown(array.attr("shape")) + ".");
  }
  return numpy.attr("ascontiguousarray")(array, "dtype"_a = type);
}

template <typename T>
struct Numbers {
  Numbers(nb::handle object, const std::string& name, const char* type)
      : array(nb::cast<nb::ndarray<const T, nb::ndim<1>, nb::c_contig>>(
            arrayOf(object, name, 1, type))) {}
  [[nodiscard]] std::size_t size() const { return array.shape(0); }
  const T& operator[](std::size_t i) const { return array.data()[i]; }

  nb::ndarray<const T, nb::ndim<1>, nb::c_contig> array;
};

bool isPath(nb::handle object) {
  return nb::isinstance<nb::str>(object) || nb::hasattr(object, "__fspath__");
}
std::filesystem::path pathOf(nb::handle object) {
  PathText path;
  if (!path.read(object)) {
    refuse("a file must have a name, not " + nb::cast<std::string>(nb::repr(object)) + ".");
  }
  return path.get();
}

Eigen::MatrixXd denseMatrix(nb::handle object, const std::string& name) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto array = nb::cast<nb::ndarray<const double, nb::ndim<2>, nb::c_contig>>(
      arrayOf(object, name, 2, "float64"));
  return Eigen::Map<const RowMajor>(array.data(), static_cast<Eigen::Index>(array.shape(0)),
                                    static_cast<Eigen::Index>(array.shape(1)));
}

/// The columns of a sparse matrix, from objects with these members.
SparseMatrix compressedMatrix(nb::handle dataOf, nb::handle indicesOf, nb::handle startsOf,
                              nb::handle shape, const std::string& name) {
  const auto rows = nb::cast<std::int64_t>(shape[nb::int_(0)]);
  const auto columns = nb::cast<std::int64_t>(shape[nb::int_(1)]);
  const Numbers<double> data(dataOf, name + ".data", "float64");
  const Numbers<std::int64_t> indices(indicesOf, name + ".indices", "int64");
  const Numbers<std::int64_t> starts(startsOf, name + ".indptr", "int64");
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  bool valid = rows >= 0 && columns >= 0 && rows <= most && columns <= most &&
               data.size() == indices.size() && data.size() <= most &&
               starts.size() == static_cast<std::size_t>(columns) + 1 && starts[0] == 0 &&
               starts[starts.size() - 1] == static_cast<std::int64_t>(data.size());
  for (std::size_t i = 1; valid && i < starts.size(); ++i) {
    valid = starts[i - 1] <= starts[i];
  }
  for (std::size_t i = 0; valid && i < indices.size(); ++i) {
    valid = indices[i] >= 0 && indices[i] < rows;
  }
  if (!valid) {
    refuse(name + " has indices outside of its shape " + shown(shape) + ".");
  }
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(data.size());
  for (std::size_t column = 0; column + 1 < starts.size(); ++column) {
    for (auto k = static_cast<std::size_t>(starts[column]);
         k < static_cast<std::size_t>(starts[column + 1]); ++k) {
      entries.emplace_back(static_cast<int>(indices[k]), static_cast<int>(column), data[k]);
    }
  }
  SparseMatrix result(rows, columns);
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

SparseMatrix matrixOf(nb::handle object, const std::string& name);

/// A matrix in a file: Matrix Market, or as numpy.save, numpy.savez or scipy.sparse.save_npz write it.
SparseMatrix matrixIn(nb::handle file, const std::string& name) {
  const std::filesystem::path path = pathOf(file);
  if (path.extension() != ".npz" && path.extension() != ".npy") {
    return readMatrix(path).matrix();
  }
  const std::string what = name + " in " + shown(file);
  nb::object loaded;
  try {
    loaded = nb::module_::import_("numpy").attr("load")(file, "allow_pickle"_a = false);
  } catch (const nb::python_error& error) {
    refuse(what + " cannot be read: " + shown(error.value()) + ".");
  }
  if (path.extension() == ".npy") {
    return matrixOf(loaded, what);
  }
  const nb::list members(loaded.attr("files"));
  if (nb::len(members) == 1) {
    return matrixOf(loaded[members[0]], what);
  }
  if (!nb::cast<bool>(loaded.attr("__contains__")("format"))) {
    refuse(what + " must be one array, or a matrix of scipy.sparse.save_npz.");
  }
  const nb::object format = loaded["format"].attr("item")();
  const auto kind = nb::isinstance<nb::bytes>(format)
                        ? nb::cast<std::string>(format.attr("decode")("latin-1"))
                        : shown(format);
  if (kind != "csc" && kind != "csr") {
    refuse(what + " has the format " + kind + ". Save it with .tocsc().");
  }
  nb::object shape = loaded["shape"];
  if (kind == "csr") {  // rows are the columns of the transpose
    shape = shape[nb::slice(nb::none(), nb::none(), nb::int_(-1))];
  }
  SparseMatrix matrix =
      compressedMatrix(loaded["data"], loaded["indices"], loaded["indptr"], shape, what);
  return kind == "csr" ? SparseMatrix(matrix.transpose()) : matrix;
}

/// A file; a matrix or array of scipy.sparse, or anything else with tocsc(); otherwise an array.
SparseMatrix matrixOf(nb::handle object, const std::string& name) {
  if (isPath(object)) {
    return matrixIn(object, name);
  }
  if (!nb::hasattr(object, "tocsc")) {
    return denseMatrix(object, name).sparseView();
  }
  const nb::object csc = object.attr("tocsc")();
  return compressedMatrix(csc.attr("data"), csc.attr("indices"), csc.attr("indptr"),
                          csc.attr("shape"), name);
}

/// A node of the mesh by its number or name.
int nodeNumber(nb::handle node, const std::vector<std::string>& names, const char* argument) {
  if (nb::isinstance<nb::str>(node)) {
    const auto found = std::ranges::find(names, nb::cast<std::string>(node));
    if (found == names.end()) {
      refuse(std::string(argument) + " names node " + nb::cast<std::string>(nb::repr(node)) +
             ", which is not in node_names.");
    }
    return static_cast<int>(found - names.begin());
  }
  // Also integers of NumPy.
  const Py_ssize_t number = PyNumber_AsSsize_t(node.ptr(), PyExc_OverflowError);
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse(std::string(argument) + " must hold numbers or names of nodes, not " +
           nb::cast<std::string>(nb::repr(node)) + ".");
  }
  return number >= 0 && number <= std::numeric_limits<int>::max() ? static_cast<int>(number) : -1;
}

/// Nodes, or names with a node or a set of them.
std::vector<NodeSet> setsOf(nb::handle object, const std::vector<std::string>& names,
                            const char* argument) {
  std::vector<NodeSet> sets;
  if (!nb::hasattr(object, "items")) {
    if (nb::isinstance<nb::str>(object)) {
      refuse(std::string(argument) + " must be a sequence of nodes; give [" +
             nb::cast<std::string>(nb::repr(object)) + "].");
    }
    for (const nb::handle node : object) {
      sets.emplace_back(nodeNumber(node, names, argument));
    }
    return sets;
  }
  for (const nb::handle item : object.attr("items")()) {
    const auto name = nb::cast<std::string>(nb::str(item[0]));
    const nb::object members = item[1];
    if (nb::isinstance<nb::str>(members) || !nb::hasattr(members, "__len__")) {
      sets.emplace_back(name, nodeNumber(members, names, argument));
      continue;
    }
    std::vector<int> numbers;
    for (const nb::handle node : members) {
      numbers.push_back(nodeNumber(node, names, argument));
    }
    sets.emplace_back(name, std::move(numbers));
  }
  return sets;
}

nb::object addFlexibleBody(const nb::object& self, const Text& name, const nb::object& nodes,
                           const nb::object& mass, const nb::object& stiffness, int modes,
                           const nb::object& interface, double damping, const nb::object& keep,
                           const nb::object& nodeNames) {
  FiniteElementOptions options{.modes = modes, .damping = damping};
  Eigen::MatrixXd positions;
  if (isPath(nodes)) {
    NodeTable table = readNodes(pathOf(nodes));
    positions = table.positions();
    options.names = std::move(table.names);
  } else {
    positions = denseMatrix(nodes, "nodes");
  }
  if (nb::len(nodeNames) > 0) {
    options.names.clear();
  }
  for (const nb::handle node : nodeNames) {
    options.names.push_back(shown(node));
  }
  options.interface = setsOf(interface, options.names, "interface");
  if (!keep.is_none()) {
    options.keep = setsOf(keep, options.names, "keep");
  }
  FlexibleBody& body = nb::cast<Mechanism&>(self).addFlexibleBody(reduceFiniteElements(
      name.get(), positions, matrixOf(mass, "mass"), matrixOf(stiffness, "stiffness"), options));
  nb::object object = nb::cast(&body, nb::rv_policy::reference);
  python::keep(object, self);
  return object;
}

}  // namespace

void bindElements(nb::class_<Mechanism>& mechanism) {
  mechanism.def(
      "add_flexible_body", &addFlexibleBody, "name"_a, nb::kw_only(), "nodes"_a, "mass"_a,
      "stiffness"_a, "modes"_a = 6, "interface"_a = nb::make_tuple(), "damping"_a = 0.0,
      "keep"_a.none() = nb::none(), "node_names"_a = nb::make_tuple(),
      signature(
          "def add_flexible_body(self, name: str, *, nodes: ArrayLike | Path, mass: typing.Any, "
          "stiffness: typing.Any, "
          "modes: int = 6, interface: Sequence[int | str] | Mapping[str, int | str | Sequence[int "
          "| str]] = (), damping: float = 0, keep: Sequence[int | str] | Mapping[str, int | str | "
          "Sequence[int | str]] | None = None, node_names: Sequence[str] = ()) -> FlexibleBody"),
      R"(Adds a body that bends, from the matrices of a finite-element program.

Joints attach to its nodes: add_joint(…, parent=name, parent_node="17"). Nodes are called by their
numbers, from "0" on, or as `node_names` says; frames are called "name/17".

Args:
    nodes: positions in the body's frame, m, (N, 3); or a text file with a line x, y, z or
        name, x, y, z for each.
    mass, stiffness: of the free body, without supports: (6 N, 6 N), with six rows for each node,
        along x, y, z and about x, y, z; or (3 N, 3 N), without rotations, as meshes of solid
        elements have. Arrays, sparse matrices such as those of scipy.sparse, or files: .mtx (Matrix
        Market), .npz, .npy.
    modes: modal coordinates that are kept, those of `interface` included.
    interface: nodes whose deflections under forces there are exact; the body's frame moves with the
        first. {"flange": [3, 4, 5]} gives a set of nodes a name: it is a node of the body at their
        mean and moves as the rigid body that fits their displacements best. Empty: modes of the
        free body. Without rotations, only sets of three nodes or more can be in the interface.
    damping: ratio to critical damping, of every mode.
    keep: nodes and sets that become frames besides `interface`; all nodes if not given. Of a mesh
        of thousands list those that matter.
    node_names: one for each of the N nodes.)");
}

}  // namespace kempe::python
