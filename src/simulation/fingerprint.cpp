#include "simulation/fingerprint.hpp"

#include <bit>
#include <string>

#include "model/model_impl.hpp"

namespace kempe::detail {
namespace {

/// FNV-1a (Fowler, Noll, Vo) with 64 bits.
class Hash {
 public:
  void add(std::uint64_t bits) {
    for (int i = 0; i < 8; ++i) {
      value_ = (value_ ^ ((bits >> (8 * i)) & 0xff)) * 0x100000001b3ULL;
    }
  }
  void add(double x) { add(std::bit_cast<std::uint64_t>(x + 0.0)); }  // −0 is 0
  void add(const std::string& text) {
    for (const char c : text) {
      add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    }
    add(static_cast<std::uint64_t>(text.size()));
  }
  void add(const Vec3<double>& x) {
    for (int i = 0; i < 3; ++i) {
      add(x[i]);
    }
  }
  void add(const Transform<double>& x) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        add(x.R(i, j));
      }
    }
    add(x.p);
  }
  [[nodiscard]] std::uint64_t value() const { return value_ == 0 ? 1 : value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

}  // namespace

std::uint64_t fingerprintOf(const Model& model) {
  const ModelTables<double>& tables = model.impl().tables;
  Hash hash;
  for (const auto* names : {&model.qNames(), &model.spanningVelocityNames()}) {
    for (const std::string& name : *names) {
      hash.add(name);
    }
  }
  for (const BodyEntry<double>& body : tables.bodies) {
    hash.add(static_cast<std::uint64_t>(body.type));
    hash.add(body.placement);
    hash.add(body.pitch);
    hash.add(body.inertia.mass);
    hash.add(body.inertia.moment);
    const SymMat3<double>& I = body.inertia.rotation;
    for (const double x : {I.xx, I.xy, I.xz, I.yy, I.yz, I.zz}) {
      hash.add(x);
    }
  }
  for (const LoopEntry<double>& loop : tables.loops) {
    hash.add(static_cast<std::uint64_t>(loop.form.kind));
    hash.add(static_cast<std::uint64_t>(loop.form.type));
    hash.add(loop.predecessor.frame);
    hash.add(loop.successor.frame);
    for (const double x : {loop.form.cosine, loop.form.length, loop.form.offset}) {
      hash.add(x);
    }
  }
  for (const LoopTerm<double>& term : tables.terms) {
    hash.add(term.coefficient);
  }
  return hash.value();
}

}  // namespace kempe::detail
