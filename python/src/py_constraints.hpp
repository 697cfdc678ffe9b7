#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "kempe/constraints.hpp"
#include "py_model.hpp"

namespace kempe::python {

/// Constraints as a Python object. Changes during a computation, by other threads or by a function
/// that it calls, are made to a copy: the computation uses the constraints as they were.
class PyConstraints {
 public:
  explicit PyConstraints(nanobind::object model)
      : model_(std::move(model)),
        own_(std::make_shared<Constraints>(nanobind::cast<const PyModel&>(model_).model())) {}
  PyConstraints(const PyConstraints& other)
      : model_(other.model_), own_(std::make_shared<Constraints>(*other.own_)) {}
  PyConstraints& operator=(const PyConstraints&) = delete;
  ~PyConstraints() = default;

  [[nodiscard]] const nanobind::object& model() const { return model_; }
  [[nodiscard]] std::shared_ptr<const Constraints> now() const { return own_; }
  [[nodiscard]] const Constraints& get() const { return *own_; }
  Constraints& change() {
    if (own_.use_count() > 1) own_ = std::make_shared<Constraints>(*own_);
    return *own_;
  }

  [[nodiscard]] int numberOf(const std::string& name) const {
    const int number = own_->find(name);
    if (number >= 0) return number;
    std::string known;
    for (int i = 0; i < own_->count(); ++i) {
      known += (known.empty() ? "\"" : ", \"") + own_->name(i) + "\"";
    }
    throw std::invalid_argument("there is no constraint \"" + name + "\"; " +
                                (known.empty() ? "there are none" : "there are " + known));
  }

 private:
  nanobind::object model_;
  std::shared_ptr<Constraints> own_;
};

/// The argument `time`, one number for all states of a batch.
double timeFrom(nanobind::handle time);

}  // namespace kempe::python
