#pragma once

#include "loops/joint_rows.hpp"
#include "tables/tables.hpp"

/// The rows of loops and constraints between two bodies, embedded, cut or switched on and off: the
/// one place where their kinds are told apart.
///
/// A kind of row is a struct with the functions
///   value()           φ; 0 of rows that have none
///   wrench()          f of (1) of joint_rows.hpp
///   wrenchRate(A, B)  ḟ of (2), with the motion of the two ends
///   unitScale()       the factor that makes f one of unit force or unit moment
///   turns()           whether φ is an angle, not a length
/// at the placements A and B of the two ends.
namespace kempe::detail {

template <typename T>
struct JointRow {
  const RowRule& rule;
  T cosine;
  bool universal;
  const Transform<T>&A, &B;

  KEMPE_HD T value() const { return rowValue(rule, cosine, A, B); }
  KEMPE_HD Force<T> wrench() const { return rowWrench(rule, A, B); }
  KEMPE_HD Force<T> wrenchRate(const EndMotion<T>& a, const EndMotion<T>& b) const {
    return rowWrenchRate(rule, a, b);
  }
  KEMPE_HD T unitScale() const {
    using std::sqrt;
    return universal && turns() ? T(1) / sqrt(T(1) - cosine * cosine) : T(1);
  }
  KEMPE_HD bool turns() const { return rule.kind == RowRule::Alignment; }
};

template <typename T>
struct RodRow {
  T length;
  const Transform<T>&A, &B;

  KEMPE_HD T value() const { return rodValue(length, A, B); }
  KEMPE_HD Force<T> wrench() const { return rodWrench(length, A, B); }
  KEMPE_HD Force<T> wrenchRate(const EndMotion<T>& a, const EndMotion<T>& b) const {
    return rodWrenchRate(length, a, b);
  }
  KEMPE_HD T unitScale() const { return T(1); }
  KEMPE_HD bool turns() const { return false; }
};

/// The rate of a force along an axis through a point, both moving.
template <typename T>
KEMPE_HD Force<T> forceRate(const Vec3<T>& point, const Vec3<T>& pointRate, const Vec3<T>& axis,
                            const Vec3<T>& axisRate) {
  return {cross(pointRate, axis) + cross(point, axisRate), axisRate};
}

/// The edge cannot move along x of B.
template <typename T>
struct KnifeEdgeRow {
  const Transform<T>& B;

  KEMPE_HD T value() const { return T(0); }
  KEMPE_HD Force<T> wrench() const {
    const Vec3<T> e = B.R.column(0);
    return {cross(B.p, e), e};
  }
  KEMPE_HD Force<T> wrenchRate(const EndMotion<T>&, const EndMotion<T>& b) const {
    const Vec3<T> e = B.R.column(0);
    return forceRate(B.p, b.v.linear + cross(b.v.angular, B.p), e, cross(b.v.angular, e));
  }
  KEMPE_HD T unitScale() const { return T(1); }
  KEMPE_HD bool turns() const { return false; }
};

/// Where a wheel or ball touches a plane, how fast that point travels, and the height over it.
template <typename T>
struct Contact {
  Vec3<T> point{}, pointRate{};
  T height{};
};

/// `B` has the wheel's centre as origin and its axle as z. With n the plane's normal and e the
/// axle, the contact is at c − r d, d = n of a ball, d = (n − (n·e) e) / |…| of a disc.
template <typename T, typename R>
KEMPE_HD Contact<T> contactOf(const RowForm<R>& form, const EndMotion<T>& A,
                              const EndMotion<T>& B) {
  using std::sqrt;
  const T radius = static_cast<T>(form.length);
  const Vec3<T> n = A.X.R.column(2), nRate = cross(A.v.angular, n);
  const Vec3<T> centerRate = B.v.linear + cross(B.v.angular, B.X.p);
  Vec3<T> d = n, dRate = nRate;
  if (!form.ball) {
    const Vec3<T> e = B.X.R.column(2), eRate = cross(B.v.angular, e);
    const T along = dot(n, e), alongRate = dot(nRate, e) + dot(n, eRate);
    const Vec3<T> across = n - along * e;
    const Vec3<T> acrossRate = nRate - alongRate * e - along * eRate;
    const T inverse = T(1) / sqrt(dot(across, across));
    d = inverse * across;
    dRate = inverse * (acrossRate - dot(d, acrossRate) * d);
  }
  const Vec3<T> point = B.X.p - radius * d;
  return {point, centerRate - radius * dRate, dot(n, point - A.X.p)};
}

/// The contact cannot move along axis `axis` of A.
template <typename T, typename R>
struct RollingRow {
  const RowForm<R>& form;
  int axis;
  const Transform<T>& A;
  const Contact<T>& contact;

  KEMPE_HD T value() const { return axis == 2 ? contact.height : T(0); }
  KEMPE_HD Force<T> wrench() const {
    const Vec3<T> e = A.R.column(axis);
    return {cross(contact.point, e), e};
  }
  KEMPE_HD Force<T> wrenchRate(const EndMotion<T>& a, const EndMotion<T>& b) const {
    const Vec3<T> e = A.R.column(axis);
    return forceRate(contact.point, contactOf(form, a, b).pointRate, e, cross(a.v.angular, e));
  }
  KEMPE_HD T unitScale() const { return T(1); }
  KEMPE_HD bool turns() const { return false; }
};

/// Calls visit(r, row) for the `count` rows of a form between bodies with ends at A and B; for none
/// where the form acts along coordinates.
template <typename T, typename R, typename Visit>
KEMPE_HD void forBodyRows(const RowForm<R>& form, int count, const Transform<T>& A,
                          const Transform<T>& B, const Visit& visit) {
  switch (form.kind) {
    case RowKind::Joint: {
      const RowRule* const rules = rowRules(form.type).first;
      const bool universal = form.type == LoopType::Universal;
      for (int r = 0; r < count; ++r) {
        visit(r, JointRow<T>{rules[r], T(form.cosine), universal, A, B});
      }
      break;
    }
    case RowKind::Rod:
      visit(0, RodRow<T>{T(form.length), A, B});
      break;
    case RowKind::KnifeEdge:
      visit(0, KnifeEdgeRow<T>{B});
      break;
    case RowKind::Rolling: {
      const Contact<T> contact = contactOf(form, EndMotion<T>{A, {}, {}}, EndMotion<T>{B, {}, {}});
      for (int r = 0; r < count; ++r) {
        visit(r, RollingRow<T, R>{form, r, A, contact});
      }
      break;
    }
    case RowKind::Coupling:
    case RowKind::Function:
    case RowKind::Prescribed:
    case RowKind::Lock:
    case RowKind::Held:
      break;
  }
}

/// The compiled form of a loop between two bodies, and its frames in the frames of the bodies.
struct BodyForm {
  RowForm<double> form{};
  int rows = 0;
  Pose predecessor{}, successor{};
  Pose forceFrame{};  ///< the successor's frame as it was given
};

inline BodyForm bodyForm(const LoopJoint& joint) {
  const LoopAxes axes = loopAxes(joint);
  return {.form = {.kind = RowKind::Joint, .type = joint.type, .cosine = axes.cosine},
          .rows = rowRules(joint.type).count,
          .predecessor = joint.predecessor.frame * Pose{rotationTakingZTo(axes.predecessor), {}},
          .successor = joint.successor.frame * Pose{rotationTakingZTo(axes.successor), {}},
          .forceFrame = joint.successor.frame};
}

inline BodyForm bodyForm(const Rod& rod) {
  const Pose successor{Rotation::identity(), rod.successor.point};
  return {.form = {.kind = RowKind::Rod, .length = rod.length},
          .rows = 1,
          .predecessor = Pose{Rotation::identity(), rod.predecessor.point},
          .successor = successor,
          .forceFrame = successor};
}

}  // namespace kempe::detail
