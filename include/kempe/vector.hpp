#pragma once

#include <Eigen/Core>
#include <utility>
#include <vector>

namespace kempe {

/// A vector that owns its numbers, wherever the library and a program hand one to each other.
///
/// It is an expression of Eigen like any other: it can be computed with, passed to functions and
/// assigned to an Eigen::VectorXd. Unlike that, it allocates its memory in the same way whatever
/// instruction set a program is compiled for, and nothing is assumed of its alignment.
class Vector : public Eigen::Map<Eigen::VectorXd> {
 public:
  using View = Eigen::Map<Eigen::VectorXd>;

  Vector() : View(nullptr, 0) {}
  /// All zero.
  explicit Vector(Eigen::Index size) : Vector() { resize(size); }
  Vector(const Vector& other) : View(nullptr, 0), numbers_(other.numbers_) { look(); }
  Vector(Vector&& other) noexcept : View(nullptr, 0), numbers_(std::exchange(other.numbers_, {})) {
    look();
    other.look();
  }
  template <typename Derived>
  Vector(const Eigen::DenseBase<Derived>& other) : Vector(other.size()) {  // NOLINT: implicit
    View::operator=(other.derived());
  }
  ~Vector() = default;

  Vector& operator=(const Vector& other) {
    if (this != &other) {
      numbers_ = other.numbers_;
      look();
    }
    return *this;
  }
  Vector& operator=(Vector&& other) noexcept {
    swap(other);
    return *this;
  }
  /// Takes the size of what is assigned; allocates only where that is another.
  template <typename Derived>
  Vector& operator=(const Eigen::DenseBase<Derived>& other) {
    if (other.size() == size()) {
      View::operator=(other.derived());
    } else {
      *this = Vector(other);
    }
    return *this;
  }

  /// Keeps the numbers that fit; new ones are zero.
  void resize(Eigen::Index size) {
    numbers_.resize(static_cast<std::size_t>(size));
    look();
  }
  using View::setZero;
  void setZero(Eigen::Index size) {
    resize(size);
    setZero();
  }
  using View::swap;
  void swap(Vector& other) noexcept {
    numbers_.swap(other.numbers_);
    look();
    other.look();
  }

 private:
  /// Points the expression at the numbers: how Eigen wants a Map to be given other memory.
  void look() noexcept {
    ::new (static_cast<View*>(this))
        View(numbers_.data(), static_cast<Eigen::Index>(numbers_.size()));
  }

  std::vector<double> numbers_;
};

}  // namespace kempe
