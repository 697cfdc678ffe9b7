#include "model/fold_rotors.hpp"

#include <algorithm>
#include <cmath>

namespace kempe::detail {
namespace {

/// Asymmetry below this fraction of the figures themselves is rounding.
constexpr double kRounding = 1e-12;

/// Centre of mass on z, and equal transverse inertias about a point of it.
bool isSymmetricAboutZ(const RigidInertia<double>& inertia) {
  const SymMat3<double>& I = inertia.rotation;
  const double scale = std::max({I.xx, I.yy, I.zz});
  const double offAxis = std::hypot(inertia.moment.x, inertia.moment.y);
  const double skewness =
      std::max({std::abs(I.xy), std::abs(I.xz), std::abs(I.yz), std::abs(I.xx - I.yy)});
  return offAxis <= kRounding * inertia.mass && skewness <= kRounding * scale;
}

}  // namespace

bool isRotor(const ModelTables<double>& tables, int body) {
  const BodyEntry<double>& entry = tables.bodies[body];
  const bool turns = entry.type == JointType::Revolute || entry.type == JointType::Continuous;
  return turns && isSymmetricAboutZ(entry.inertia) &&
         std::ranges::none_of(tables.bodies,
                              [&](const BodyEntry<double>& b) { return b.parent == body; });
}

void foldRotors(ModelImpl& model) {
  ModelTables<double>& tables = model.tables;
  for (std::size_t b = 0; b < tables.bodies.size(); ++b) {
    if (!isRotor(tables, static_cast<int>(b))) {
      continue;
    }
    BodyEntry<double>& body = tables.bodies[b];
    body.folded = true;
    body.spinInertia = body.inertia.rotation.zz;
    if (body.parent != kWorld) {
      tables.bodies[body.parent].inertia += body.placement * body.inertia;
    }
    // Of a body without inertia nothing is merged: it is no rotor.
    if (body.inertia.mass > 0.0 || body.spinInertia > 0.0) {
      model.foldedRotors.push_back(model.bodyNames[b]);
    }
  }
}

}  // namespace kempe::detail
