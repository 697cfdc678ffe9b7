#include "kempe/matrix_files.hpp"

#include <algorithm>
#include <optional>

#include "io/files.hpp"
#include "io/messages.hpp"
#include "io/numbers.hpp"
#include "io/text.hpp"
#include "kempe/errors.hpp"

namespace kempe {
namespace {

constexpr std::size_t kMostMatrixBytes = std::size_t{1} << 30;

/// The lines of a text, with their numbers.
class Lines {
 public:
  Lines(std::string_view text, const std::string& source) : rest_(text), source_(source) {}

  /// The next line that has content and does not begin with the comment sign; its pieces.
  std::optional<std::vector<std::string_view>> next(char comment) {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      const std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      std::vector<std::string_view> pieces = io::splitAtBlanks(line);
      if (!pieces.empty() && pieces.front().front() != comment) {
        return pieces;
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] std::size_t bytesLeft() const { return rest_.size(); }
  [[noreturn]] void fail(const std::string& reason) const {
    throw ModelError(io::placeOf(source_, number_) + reason);
  }

 private:
  std::string_view rest_;
  std::string source_;
  int number_ = 0;
};

struct MatrixHeader {
  bool isCoordinate = false;
  bool isSymmetric = false;
};

MatrixHeader readHeader(Lines& lines) {
  const auto pieces = lines.next('\0');
  std::vector<std::string> words;
  for (const std::string_view piece : pieces.value_or(std::vector<std::string_view>())) {
    words.push_back(io::lowerCase(piece));
  }
  if (words.size() != 5 || words[0] != "%%matrixmarket" || words[1] != "matrix") {
    lines.fail(
        "this is no Matrix Market file: its first line must be such as \"%%MatrixMarket matrix "
        "coordinate real symmetric\". Write it with scipy.io.mmwrite or the like.");
  }
  if (words[2] != "coordinate" && words[2] != "array") {
    lines.fail("the format " + io::inQuotes(words[2]) + " is not coordinate or array.");
  }
  if (words[3] != "real" && words[3] != "double" && words[3] != "integer") {
    lines.fail("the numbers are " + io::inQuotes(words[3]) + "; give a real matrix.");
  }
  if (words[4] != "general" && words[4] != "symmetric") {
    lines.fail("the matrix is " + io::inQuotes(words[4]) + "; give a general or symmetric one.");
  }
  return {words[2] == "coordinate", words[4] == "symmetric"};
}

std::vector<int> readSize(Lines& lines, std::size_t count) {
  const auto pieces = lines.next('%');
  std::vector<int> size;
  for (const std::string_view piece : pieces.value_or(std::vector<std::string_view>())) {
    const std::optional<int> number = io::parseIndex(piece);
    if (!number || *number < 0) {
      lines.fail(io::inQuotes(piece) + " is no size; give whole numbers of at most 2147483647.");
    }
    size.push_back(*number);
  }
  if (size.size() != count) {
    lines.fail(count == 3 ? "give the numbers of rows, columns and entries."
                          : "give the numbers of rows and columns.");
  }
  return size;
}

double readEntry(const Lines& lines, std::string_view piece) {
  const std::optional<double> number = io::parseNumber(piece);
  if (!number) {
    lines.fail(io::inQuotes(piece) + " is no finite number.");
  }
  return *number;
}

int readPlace(const Lines& lines, std::string_view piece, int size, const char* what) {
  const std::optional<int> number = io::parseIndex(piece);
  if (!number || *number < 1 || *number > size) {
    lines.fail(io::inQuotes(piece) + " is no " + what + " of a matrix with " +
               std::to_string(size) + ".");
  }
  return *number - 1;
}

using Triplets = std::vector<Eigen::Triplet<double>>;

void addEntry(Triplets& entries, int row, int column, double value, bool isSymmetric) {
  if (value != 0.0) {
    entries.emplace_back(row, column, value);
    if (isSymmetric && row != column) {
      entries.emplace_back(column, row, value);
    }
  }
}

Triplets readCoordinates(Lines& lines, const std::vector<int>& size, bool isSymmetric) {
  Triplets entries;
  const auto count = static_cast<std::size_t>(size[2]);
  for (std::size_t k = 0; k < count; ++k) {
    const auto pieces = lines.next('%');
    if (!pieces) {
      lines.fail("the file ends after " + std::to_string(k) + " of " + std::to_string(count) +
                 " entries. Write it again.");
    }
    if (pieces->size() != 3) {
      lines.fail("an entry is a row, a column and a number.");
    }
    const int row = readPlace(lines, (*pieces)[0], size[0], "row");
    const int column = readPlace(lines, (*pieces)[1], size[1], "column");
    if (isSymmetric && row < column) {
      lines.fail(
          "the entry is above the diagonal; a symmetric file holds the others only. Swap row and "
          "column, or call the matrix general.");
    }
    addEntry(entries, row, column, readEntry(lines, (*pieces)[2]), isSymmetric);
  }
  return entries;
}

/// Numbers column by column; of symmetric matrices from the diagonal down.
Triplets readArray(Lines& lines, const std::vector<int>& size, bool isSymmetric) {
  Triplets entries;
  std::vector<std::string_view> pieces;
  std::size_t used = 0;
  for (int column = 0; column < size[1]; ++column) {
    for (int row = isSymmetric ? column : 0; row < size[0]; ++row) {
      if (used == pieces.size()) {
        auto line = lines.next('%');
        if (!line) {
          lines.fail("the file ends in column " + std::to_string(column + 1) + " of " +
                     std::to_string(size[1]) + ". Write it again.");
        }
        pieces = std::move(*line);
        used = 0;
      }
      addEntry(entries, row, column, readEntry(lines, pieces[used++]), isSymmetric);
    }
  }
  if (used < pieces.size()) {
    lines.fail("there are more numbers than the matrix has.");
  }
  return entries;
}

}  // namespace

MatrixEntries readMatrixText(std::string_view text, const std::string& source) {
  Lines lines(text, source);
  const auto [isCoordinate, isSymmetric] = readHeader(lines);
  const std::vector<int> size = readSize(lines, isCoordinate ? 3 : 2);
  if (isSymmetric && size[0] != size[1]) {
    lines.fail("a symmetric matrix must be square.");
  }
  // A file of so many bytes cannot hold more, so that no size makes this run out of memory.
  const std::size_t bytes = lines.bytesLeft();
  const auto rows = static_cast<std::size_t>(size[0]), columns = static_cast<std::size_t>(size[1]);
  const std::size_t numbers = isCoordinate ? static_cast<std::size_t>(size[2]) : rows * columns / 2;
  if (numbers > bytes / (isCoordinate ? 5 : 1) || rows > bytes || columns > bytes) {
    lines.fail("the file is too short for a matrix of this size. Write it again.");
  }
  MatrixEntries matrix{size[0], size[1],
                       isCoordinate ? readCoordinates(lines, size, isSymmetric)
                                    : readArray(lines, size, isSymmetric)};
  if (lines.next('%')) {
    lines.fail("there is more than the matrix has.");
  }
  return matrix;
}

MatrixEntries readMatrix(const std::filesystem::path& path) {
  const std::string extension = io::lowerCase(path.extension().string());
  if (extension == ".npz" || extension == ".npy") {
    io::failAt(path,
               "is a file of NumPy. Convert it: scipy.io.mmwrite(\"name.mtx\", "
               "scipy.sparse.load_npz(\"name.npz\")).");
  }
  return readMatrixText(io::readFile(path, kMostMatrixBytes, "a .mtx file"), io::shown(path));
}

NodeTable readNodesText(std::string_view text, const std::string& source) {
  std::string spaced(text);
  std::replace_if(
      spaced.begin(), spaced.end(), [](char c) { return c == ',' || c == ';'; }, ' ');
  Lines lines(spaced, source);
  NodeTable table;
  bool isFirst = true, hasNames = false;
  while (const auto pieces = lines.next('#')) {
    const bool isHeading = isFirst && std::ranges::none_of(*pieces, [](std::string_view piece) {
                             return io::parseNumber(piece).has_value();
                           });
    isFirst = false;
    if (isHeading) {
      continue;
    }
    if (table.coordinates.empty()) {
      hasNames = pieces->size() == 4;
    }
    if (pieces->size() != (hasNames ? 4 : 3)) {
      lines.fail(hasNames ? "a node is a name, x, y and z, as in the first line."
                          : "a node is x, y and z; or a name, x, y and z in every line.");
    }
    if (hasNames) {
      table.names.emplace_back(pieces->front());
    }
    for (std::size_t k = hasNames ? 1 : 0; k < pieces->size(); ++k) {
      table.coordinates.push_back(readEntry(lines, (*pieces)[k]));
    }
  }
  return table;
}

NodeTable readNodes(const std::filesystem::path& path) {
  return readNodesText(io::readFile(path, kMostMatrixBytes, "a file of nodes"), io::shown(path));
}

}  // namespace kempe
