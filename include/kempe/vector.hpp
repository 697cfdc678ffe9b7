#pragma once

#include <Eigen/Core>
#include <utility>
#include <vector>

namespace kempe {

/// A vector that owns its elements; public functions and structs use it instead of Eigen::VectorXd.
///
/// It is an Eigen expression: use it in arithmetic, pass it to functions, assign it to an
/// Eigen::VectorXd. The alignment of an Eigen::VectorXd's memory depends on the compiler's -march
/// flag; that of a Vector does not, so that the library and a program compiled with other flags can
/// exchange it.
class Vector : public Eigen::Map<Eigen::VectorXd> {
 public:
  using View = Eigen::Map<Eigen::VectorXd>;

  Vector() : View(nullptr, 0) {}
  /// Creates a vector of zeros.
  explicit Vector(Eigen::Index size) : Vector() { resize(size); }
  Vector(const Vector& other) : View(nullptr, 0), numbers_(other.numbers_) { reseat(); }
  Vector(Vector&& other) noexcept : View(nullptr, 0), numbers_(std::move(other.numbers_)) {
    reseat();
    other.reseat();
  }
  template <typename Derived>
  Vector(const Eigen::DenseBase<Derived>& other) : Vector(other.size()) {  // NOLINT: implicit
    View::operator=(other.derived());
  }
  ~Vector() = default;

  Vector& operator=(const Vector& other) {
    if (this != &other) {
      numbers_ = other.numbers_;
      reseat();
    }
    return *this;
  }
  Vector& operator=(Vector&& other) noexcept {
    if (this != &other) {
      numbers_ = std::move(other.numbers_);
      other.numbers_.clear();
      reseat();
      other.reseat();
    }
    return *this;
  }
  /// Resizes to the size of `other`; allocates memory only if the size changes.
  template <typename Derived>
  Vector& operator=(const Eigen::DenseBase<Derived>& other) {
    if (other.size() == size()) {
      View::operator=(other.derived());
    } else {
      *this = Vector(other);
    }
    return *this;
  }

  /// Resizes the vector; keeps the leading elements and sets new ones to zero.
  void resize(Eigen::Index size) {
    numbers_.resize(static_cast<std::size_t>(size));
    reseat();
  }
  using View::setZero;
  void setZero(Eigen::Index size) {
    resize(size);
    setZero();
  }
  using View::swap;
  void swap(Vector& other) noexcept {
    numbers_.swap(other.numbers_);
    reseat();
    other.reseat();
  }

 private:
  /// Makes the base class refer to the elements, by placement new as Eigen documents for Map.
  void reseat() noexcept {
    ::new (static_cast<View*>(this))
        View(numbers_.data(), static_cast<Eigen::Index>(numbers_.size()));
  }

  std::vector<double> numbers_;
};

}  // namespace kempe
