#pragma once

#include "kernels/frame_motion.hpp"
#include "kernels/motion_derivatives.hpp"
#include "tables/motion_derivative_request.hpp"

/// Derivatives of the velocity and acceleration of a frame, from the columns of the DoFs that move it
/// (motion_derivatives.hpp). All motions are seen at the point of the frame's reference: ω, ṗ are
/// those of its velocity v there, a is its spatial acceleration without gravity, for which
/// Q = Q − a₀ × S is used. For a velocity that changes by P and an acceleration by Q beyond turning,
///
///   δv = P                     δa = Q − v × P                        in its own axes     (1)
///   δv = P + S × v             δa = Q − v × P + S × a                in the world        (2)
///
/// At its origin in axes of the world, where the acceleration is the classical one, a + [0; ω × ṗ],
/// and the point moves along,
///
///   δv = P + [S_ω × ω; S_ω × ṗ]                                                          (3)
///   δα = Q_ω − ω × P_ω + S_ω × α       δp̈ = Q_p + 2 P_ω × ṗ + S_ω × p̈                    (4)
///
/// Along ẏ_j: the same with S_j for P, Q′_j for Q and 0 for S. The rate of the Jacobian's column S is
/// Ṡ = Q′ − P, with − v × S in the frame's own axes, or [0; S_ω × ṗ] at its origin (5).
namespace kempe::detail {

template <typename T, typename Tables>
class FrameDerivatives {
 public:
  using R = typename Tables::Scalar;

  KEMPE_HD FrameDerivatives(const Tables& tables, const WorkView<T>& work,
                            const MotionDerivatives<T, Tables>& motion, const BodyFrame<R>& frame,
                            bool accelerates)
      : tables_(tables),
        motion_(motion),
        frame_(frame),
        at_(pointOf(frame, work)),
        gravity_(work.a[kWorld]),
        v_(seenAt(at_.p, work.v[frame.body])),
        accelerates_(accelerates) {
    if (accelerates) {
      a_ = seenAt(at_.p, ownAcceleration(tables, work, frame.body));
      if (frame.reference == Reference::LocalWorldAligned) {
        a_.linear += cross(v_.angular, v_.linear);
      }
    }
  }

  /// The derivatives that are asked for, of frame number `f` of the request.
  KEMPE_HD void write(const MotionDerivativeRequest<T, R>& request, int f) const {
    const auto ofFrame = [&](MatrixAt<T> matrix) {
      if (matrix) {
        matrix.numbers += f * request.frameStride;
        for (int i = 0; i < 6; ++i) {
          for (int j = 0; j < tables_.nv; ++j) {
            matrix(i, j) = T(0);
          }
        }
      }
      return matrix;
    };
    const MatrixAt<T> velocityByQ = ofFrame(request.velocityByQ);
    const MatrixAt<T> accelerationByQ = ofFrame(request.accelerationByQ);
    const MatrixAt<T> accelerationByV = ofFrame(request.accelerationByV);
    const MatrixAt<T> jacobianRate = ofFrame(request.jacobianRate);
    const auto put = [&](const MatrixAt<T>& to, int k, const Motion<T>& m) {
      writeSeen(m, at_, &to(0, k), to.rowStride);
    };
    motion_.forDofsThatMove(frame_.body, [&](int k, const MotionColumns<T>& common) {
      const Motion<T> S = seenAt(at_.p, common.S), P = seenAt(at_.p, common.P);
      if (velocityByQ) {
        put(velocityByQ, k, P + turning(S, v_));
      }
      if (!accelerates_) {
        return;
      }
      const Motion<T> Qv = seenAt(at_.p, common.Qv);
      if (accelerationByQ) {
        const Motion<T> Q = seenAt(at_.p, common.Q - cross(gravity_, common.S));
        put(accelerationByQ, k, accelerationChange(P, Q) + turning(S, a_));
      }
      if (accelerationByV) {
        put(accelerationByV, k, accelerationChange(S, Qv));
      }
      if (jacobianRate) {
        put(jacobianRate, k, columnRate(S, Qv - P));
      }
    });
  }

 private:
  /// What the displacement S adds to the change of a velocity or acceleration m.
  KEMPE_HD Motion<T> turning(const Motion<T>& S, const Motion<T>& m) const {
    switch (frame_.reference) {
      case Reference::Local:  // (1)
        return {};
      case Reference::World:  // (2)
        return cross(S, m);
      case Reference::LocalWorldAligned:  // (3), (4)
        break;
    }
    return {cross(S.angular, m.angular), cross(S.angular, m.linear)};
  }

  KEMPE_HD Motion<T> accelerationChange(const Motion<T>& P, const Motion<T>& Q) const {
    if (frame_.reference != Reference::LocalWorldAligned) {
      return Q - cross(v_, P);  // (1), (2)
    }
    return {Q.angular - cross(v_.angular, P.angular),
            Q.linear + T(2) * cross(P.angular, v_.linear)};  // (4)
  }

  KEMPE_HD Motion<T> columnRate(const Motion<T>& S, const Motion<T>& rate) const {  // (5)
    switch (frame_.reference) {
      case Reference::Local:
        return rate - cross(v_, S);
      case Reference::World:
        return rate;
      case Reference::LocalWorldAligned:
        break;
    }
    return {rate.angular, rate.linear + cross(S.angular, v_.linear)};
  }

  const Tables& tables_;
  const MotionDerivatives<T, Tables>& motion_;
  const BodyFrame<R>& frame_;
  FramePoint<T> at_;
  Motion<T> gravity_, v_, a_{};
  bool accelerates_;
};

}  // namespace kempe::detail
