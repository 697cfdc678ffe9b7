#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "constraints/table.hpp"
#include "kempe/constraints.hpp"
#include "mechanism/finite.hpp"
#include "model/arguments.hpp"
#include "model/positions.hpp"
#include "text/messages.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

namespace {

/// Builds the entry of one constraint; every error names the constraint.
class EntryBuilder {
 public:
  EntryBuilder(const ModelImpl& model, const ConstraintTable& table, std::string_view name)
      : model_(model) {
    entry.name = name;
    if (name.empty()) {
      throw std::invalid_argument("a constraint needs a name");
    }
    if (std::ranges::find(table.entries, name, &ConstraintEntry::name) != table.entries.end()) {
      fail("another one has this name already; give each a unique name");
    }
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw std::invalid_argument("constraint " + kempe::quoted(entry.name) + ": " + reason);
  }

  void require(bool condition, const char* reason) const {
    if (!condition) {
      fail(reason);
    }
  }

  /// A body of the mechanism as an end; the root where the name is empty.
  [[nodiscard]] ConstraintEnd end(const std::string& body) const {
    if (body.empty()) {
      return {};
    }
    if (model_.mechanism.findBody(body) == nullptr) {
      fail("there is no body " + kempe::quoted(body));
    }
    const FrameEntry& frame = model_.frames[static_cast<std::size_t>(model_.frameByName.at(body))];
    return {frame.body, frame.inBody};
  }

  [[nodiscard]] static bool isDirection(const Vector3& x) { return isFinite(x) && dot(x, x) > 0.0; }
  void requirePose(const Pose& frame) const {
    bool turn = isFinite(frame.p);
    for (int i = 0; i < 3; ++i) {
      turn = turn && std::abs(dot(frame.R.column(i), frame.R.column(i)) - 1.0) < 1e-6;
    }
    require(turn, "a frame must have finite numbers and axes of unit length");
  }

  [[nodiscard]] int body(std::string_view joint) const {
    const auto it = model_.bodyByJoint.find(std::string(joint));
    if (it == model_.bodyByJoint.end()) {
      fail("there is no moving joint " + kempe::quoted(std::string(joint)));
    }
    return it->second;
  }

  void addTerm(const Coordinate& coordinate, double coefficient) {
    const BodyEntry<double>& moved = model_.tables.bodies[body(coordinate.joint)];
    if (!hasScalarCoordinates(moved.type)) {
      fail("joint " + kempe::quoted(coordinate.joint) + " is " + std::string(toString(moved.type)) +
           ", whose position is not a scalar");
    }
    if (coordinate.component < 0 || coordinate.component >= positionSize(moved.type)) {
      fail("joint " + kempe::quoted(coordinate.joint) + " has " +
           std::to_string(positionSize(moved.type)) + " coordinates, there is no component " +
           std::to_string(coordinate.component));
    }
    require(std::isfinite(coefficient), "a coefficient is not finite");
    entry.terms.push_back({moved.firstPosition + coordinate.component,
                           moved.firstVelocity + coordinate.component, coefficient});
  }

  ConstraintEntry entry{};

 private:
  const ModelImpl& model_;
};

}  // namespace

Constraints::Constraints(const Model& model)
    : model_(model), table_(std::make_unique<ConstraintTable>()) {}
Constraints::Constraints(const Constraints& other)
    : model_(other.model_), table_(std::make_unique<ConstraintTable>(*other.table_)) {}
Constraints::Constraints(Constraints&&) noexcept = default;
Constraints& Constraints::operator=(const Constraints& other) {
  *this = Constraints(other);
  return *this;
}
Constraints& Constraints::operator=(Constraints&&) noexcept = default;
Constraints::~Constraints() = default;

int Constraints::append(ConstraintEntry entry) {
  table_->append(model_.impl().tables, std::move(entry));
  return count() - 1;
}

int Constraints::add(const LoopJoint& joint) {
  EntryBuilder builder(model_.impl(), *table_, joint.name);
  builder.requirePose(joint.predecessor.frame);
  builder.requirePose(joint.successor.frame);
  const bool hasAxis = joint.type != LoopType::Spherical && joint.type != LoopType::Fixed;
  builder.require(!hasAxis || EntryBuilder::isDirection(joint.axis),
                  "the axis must be a nonzero, finite vector");
  builder.require(joint.type != LoopType::Universal || EntryBuilder::isDirection(joint.axis2),
                  "the second axis must be a nonzero, finite vector");
  setLoop(bodyForm(joint), builder.end(joint.predecessor.body), builder.end(joint.successor.body),
          builder.entry);
  builder.require(builder.entry.predecessor.body != builder.entry.successor.body,
                  "its two ends are on the same rigid body");
  return append(std::move(builder.entry));
}

int Constraints::add(const Rod& rod) {
  EntryBuilder builder(model_.impl(), *table_, rod.name);
  builder.require(isFinite(rod.predecessor.point) && isFinite(rod.successor.point),
                  "a point is not finite");
  builder.require(std::isfinite(rod.length) && rod.length > 0.0, "the length must be positive");
  ConstraintEntry& entry = builder.entry;
  setLoop(bodyForm(rod), builder.end(rod.predecessor.body), builder.end(rod.successor.body), entry);
  builder.require(entry.predecessor.body != entry.successor.body,
                  "its two ends are on the same rigid body");
  return append(std::move(entry));
}

int Constraints::add(const Coupling& coupling) {
  EntryBuilder builder(model_.impl(), *table_, coupling.name);
  ConstraintEntry& entry = builder.entry;
  builder.require(!coupling.terms.empty(), "it has no terms");
  builder.require(std::isfinite(coupling.offset), "the offset is not finite");
  for (const Coupling::Term& term : coupling.terms) {
    builder.addTerm(term.coordinate, term.coefficient);
  }
  setLoop(coordinateForm(coupling), entry);
  return append(std::move(entry));
}

int Constraints::add(TimedFunction function) {
  EntryBuilder builder(model_.impl(), *table_, function.name);
  ConstraintEntry& entry = builder.entry;
  builder.require(function.rows > 0, "it must have at least one row");
  builder.require(!function.coordinates.empty(), "it uses no coordinate");
  const Expression& phi = function.expression;
  builder.require(phi.results() > 0 || function.jet != nullptr, "it has no function for jets");
  builder.require(
      phi.results() == 0 || (phi.results() == function.rows &&
                             phi.arguments() == static_cast<int>(function.coordinates.size()) + 1),
      "its expression must have an argument for each coordinate "
      "and one for time, and "
      "a result for each row");
  for (const Coordinate& coordinate : function.coordinates) {
    builder.addTerm(coordinate, 1.0);
  }
  try {
    setFunction(std::move(function), entry);
  } catch (const TracingError& error) {
    builder.fail(error.what());
  }
  return append(std::move(entry));
}

int Constraints::add(const KnifeEdge& edge) {
  EntryBuilder builder(model_.impl(), *table_, edge.name);
  ConstraintEntry& entry = builder.entry;
  builder.requirePose(edge.frame);
  const ConstraintEnd on = builder.end(edge.body);
  builder.require(on.body != kWorld, "its body does not move");
  entry.form.kind = RowKind::KnifeEdge;
  entry.rows = 1;
  entry.successor = {on.body, on.frame * edge.frame};
  return append(std::move(entry));
}

int Constraints::add(const Rolling& rolling) {
  EntryBuilder builder(model_.impl(), *table_, rolling.name);
  ConstraintEntry& entry = builder.entry;
  builder.requirePose(rolling.plane);
  builder.require(isFinite(rolling.center), "the centre is not finite");
  builder.require(rolling.ball || EntryBuilder::isDirection(rolling.axle),
                  "the axle must be a nonzero, finite vector");
  builder.require(std::isfinite(rolling.radius) && rolling.radius > 0.0,
                  "the radius must be positive");
  const ConstraintEnd wheel = builder.end(rolling.body), ground = builder.end(rolling.ground);
  builder.require(wheel.body != ground.body, "the wheel and its ground are one rigid body");
  entry.form = {.kind = RowKind::Rolling, .ball = rolling.ball, .length = rolling.radius};
  entry.rows = rolling.staysOnPlane ? 3 : 2;
  const Rotation turn =
      rolling.ball ? Rotation::identity() : rotationTakingZTo(normalized(rolling.axle));
  entry.successor = {wheel.body, wheel.frame * Pose{turn, rolling.center}};
  entry.predecessor = {ground.body, ground.frame * rolling.plane};
  return append(std::move(entry));
}

int Constraints::prescribe(std::string_view name, const Coordinate& coordinate,
                           std::function<PrescribedMotion(double)> motion) {
  EntryBuilder builder(model_.impl(), *table_, name);
  ConstraintEntry& entry = builder.entry;
  builder.require(motion != nullptr, "it has no motion");
  builder.addTerm(coordinate, 1.0);
  entry.form.kind = RowKind::Prescribed;
  entry.rows = 1;
  entry.timed = true;
  entry.motion = std::move(motion);
  return append(std::move(entry));
}

int Constraints::lock(std::string_view name, std::string_view joint, VectorIn q) {
  const ModelImpl& model = model_.impl();
  EntryBuilder builder(model, *table_, name);
  ConstraintEntry& entry = builder.entry;
  requireConfiguration<double>("q", model, q);
  const BodyEntry<double>& moved = model.tables.bodies[builder.body(joint)];
  std::vector<double> positions(static_cast<std::size_t>(model.tables.positions));
  expandPositions(model, q.data(), positions.data());
  const auto first = positions.begin() + moved.firstPosition;
  entry.form.kind = RowKind::Lock;
  entry.rows = velocitySize(moved.type);
  entry.jointType = moved.type;
  entry.reference.assign(first, first + positionSize(moved.type));
  for (int i = 0; i < entry.rows; ++i) {
    entry.terms.push_back({moved.firstPosition, moved.firstVelocity + i, 1.0});
  }
  return append(std::move(entry));
}

int Constraints::count() const {
  return static_cast<int>(table_->entries.size());
}
int Constraints::rows() const {
  return table_->rows;
}

const ConstraintEntry& Constraints::entry(int constraint) const {
  if (constraint < 0 || constraint >= count()) {
    throw std::invalid_argument("constraint " + std::to_string(constraint) + ": there are " +
                                std::to_string(count()) + ", counted from 0");
  }
  return table_->entries[static_cast<std::size_t>(constraint)];
}

const std::string& Constraints::name(int constraint) const {
  return entry(constraint).name;
}
int Constraints::firstRow(int constraint) const {
  return entry(constraint).firstRow;
}
int Constraints::rows(int constraint) const {
  return entry(constraint).rows;
}

int Constraints::find(std::string_view name) const {
  const auto it = std::ranges::find(table_->entries, name, &ConstraintEntry::name);
  return it == table_->entries.end() ? -1 : static_cast<int>(it - table_->entries.begin());
}

bool Constraints::enabled(int constraint) const {
  return entry(constraint).enabled;
}

void Constraints::enable(int constraint, bool on) {
  static_cast<void>(entry(constraint));
  table_->entries[static_cast<std::size_t>(constraint)].enabled = on;
}

void Constraints::stabilize(double rate) {
  if (!(std::isfinite(rate) && rate >= 0.0)) {
    throw std::invalid_argument("rate: stabilisation needs a finite rate that is not negative");
  }
  table_->stabilization = rate;
}

double Constraints::stabilization() const {
  return table_->stabilization;
}

}  // namespace kempe
