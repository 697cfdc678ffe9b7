#include "simulation/chart_derivatives.hpp"

#include <algorithm>

#include "kempe/spatial/factorization.hpp"
#include "model/positions.hpp"
#include "simulation/exponential_rates.hpp"

namespace kempe::detail {
namespace {

/// Row `row` of a matrix of one joint times its rows of G, column k of the cluster.
double timesRatios(const double* matrix, int size, int row, const double* G, int m, int k) {
  double sum = 0.0;
  for (int a = 0; a < size; ++a) {
    sum += matrix[row * size + a] * G[a * m + k];
  }
  return sum;
}

void multiply(int n, const double* a, const double* b, double* result) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0.0;
      for (int k = 0; k < n; ++k) {
        sum += a[i * n + k] * b[k * n + j];
      }
      result[i * n + j] = sum;
    }
  }
}

}  // namespace

ChartDerivatives::JointChart ChartDerivatives::chartOf(const Coordinates& coordinates,
                                                       const Joint& joint, const Stage& stage) {
  const BodyEntry<double>& body = coordinates.impl().tables.bodies[joint.body];
  JointChart chart;
  const int n = chart.size = velocitySize(body.type);
  coordinates.turningStep(joint, stage.q0, stage.y, stage.q, chart.step);
  retractJacobian(body.type, chart.step, chart.J);
  double factors[36];
  int pivots[6];
  std::copy_n(chart.J, n * n, factors);
  luFactor(factors, n, pivots);
  for (int i = 0; i < n; ++i) {
    chart.inverse[i * n + i] = 1.0;
  }
  luSolve(factors, n, pivots, chart.inverse, n);
  // Ad(exp(−s)) = exp(−ad) = 1 − ad J.
  for (int j = 0; j < n; ++j) {
    double column[6], turned[6];
    for (int i = 0; i < n; ++i) {
      column[i] = chart.J[i * n + j];
    }
    bracket(n, chart.step, column, turned);
    for (int i = 0; i < n; ++i) {
      chart.Ad[i * n + j] = (i == j ? 1.0 : 0.0) - turned[i];
    }
  }
  return chart;
}

void ChartDerivatives::ofPosition(const Coordinates& coordinates, const Stage& stage,
                                  const double* G, StageDerivatives& result) {
  const std::vector<Joint>& joints = coordinates.turningJoints();
  const ModelTables<double>& tables = coordinates.impl().tables;
  result.flat = joints.empty();
  result.ofStart.setIdentity();
  result.ofChart.setIdentity();
  for (std::size_t i = 0; i < joints.size();) {
    const ClusterEntry& cluster = tables.clusters[tables.bodies[joints[i].body].cluster];
    if (cluster.kind == ClusterKind::Implicit) {
      i = solveCluster(coordinates, i, stage, G, result);
      continue;
    }
    const JointChart chart = chartOf(coordinates, joints[i], stage);  // (1)
    for (int r = 0; r < chart.size; ++r) {
      for (int c = 0; c < chart.size; ++c) {
        result.ofStart(joints[i].inV[r], joints[i].inV[c]) = chart.Ad[r * chart.size + c];
        result.ofChart(joints[i].inV[r], joints[i].inV[c]) = chart.J[r * chart.size + c];
      }
    }
    ++i;
  }
}

std::size_t ChartDerivatives::solveCluster(const Coordinates& coordinates, std::size_t first,
                                           const Stage& stage, const double* G,
                                           StageDerivatives& result) {
  const std::vector<Joint>& joints = coordinates.turningJoints();
  const ModelTables<double>& tables = coordinates.impl().tables;
  const int index = tables.bodies[joints[first].body].cluster;
  const ClusterEntry& cluster = tables.clusters[index];
  const int m = cluster.nv;
  matrix_.assign(static_cast<std::size_t>(m) * m, 0.0);
  sides_.assign(static_cast<std::size_t>(m) * 2 * m, 0.0);  // of η0 and of δy
  pivots_.resize(static_cast<std::size_t>(m));
  for (int i = 0; i < m; ++i) {
    matrix_[i * m + i] = sides_[i * 2 * m + i] = sides_[i * 2 * m + m + i] = 1.0;
  }
  std::size_t next = first;
  for (; next < joints.size() && tables.bodies[joints[next].body].cluster == index; ++next) {
    const Joint& joint = joints[next];
    const JointChart chart = chartOf(coordinates, joint, stage);
    const int row = tables.bodies[joint.body].firstVelocity - cluster.firstVelocity;
    const double* own = G + cluster.firstRatio + row * m;
    const double* atStart = stage.G0 + cluster.firstRatio + row * m;
    double turned[36];
    multiply(chart.size, chart.inverse, chart.Ad, turned);
    for (std::size_t i = 0; i < joint.inV.size(); ++i) {  // (2)
      const int r = joint.inV[i] - cluster.firstV;
      for (int k = 0; k < m; ++k) {
        matrix_[r * m + k] = timesRatios(chart.inverse, chart.size, joint.offset[i], own, m, k);
        sides_[r * 2 * m + k] = timesRatios(turned, chart.size, joint.offset[i], atStart, m, k);
      }
    }
  }
  if (!(luFactor(matrix_.data(), m, pivots_.data()) > 0.0)) {
    throwSingularityError(coordinates.impl(), cluster, stage.q.data() + cluster.firstQ);
  }
  luSolve(matrix_.data(), m, pivots_.data(), sides_.data(), 2 * m);
  for (int i = 0; i < m; ++i) {
    for (int k = 0; k < m; ++k) {
      result.ofStart(cluster.firstV + i, cluster.firstV + k) = sides_[i * 2 * m + k];
      result.ofChart(cluster.firstV + i, cluster.firstV + k) = sides_[i * 2 * m + m + k];
    }
  }
  return next;
}

/// With L(s) the inverse of J as coordinateRates() computes it, ẏ = L(s) G v. So
///   δẏ = ∂(L G v)/∂s δs + L (G δv + W η),   δs = J⁻¹ (G η − Ad(exp(−s)) G0 η0),
/// where η = ofStart η0 + ofChart δy.
void ChartDerivatives::ofRates(const Coordinates& coordinates, const Stage& stage, const double* G,
                               VectorIn velocities, const RatioDerivatives& ratios,
                               StageDerivatives& result) {
  const ModelTables<double>& tables = coordinates.impl().tables;
  result.slopeOfV.setIdentity();
  result.slopeOfStart.setZero();
  result.slopeOfChart.setZero();
  for (const Joint& joint : coordinates.turningJoints()) {
    const BodyEntry<double>& body = tables.bodies[joint.body];
    const ClusterEntry& cluster = tables.clusters[body.cluster];
    const JointChart chart = chartOf(coordinates, joint, stage);
    const int n = chart.size, m = cluster.nv, first = cluster.firstV;
    const int row = body.firstVelocity - cluster.firstVelocity;
    const double* own = G + cluster.firstRatio + row * m;
    const double* atStart = stage.G0 + cluster.firstRatio + row * m;
    double L[36], D[36], ofTangent[36], ofStart[36];
    for (int k = 0; k < n; ++k) {
      Dual<double> step[6], w[6], varied[6];
      double unit[6]{}, column[6];
      unit[k] = 1.0;
      coordinateRates(n, chart.step, unit, column);
      for (int i = 0; i < n; ++i) {
        step[i] = {chart.step[i], unit[i]};
        w[i] = Dual<double>(velocities[body.firstVelocity + i]);
      }
      coordinateRates(n, step, w, varied);
      for (int i = 0; i < n; ++i) {
        L[i * n + k] = column[i];
        D[i * n + k] = varied[i].slope;
      }
    }
    multiply(n, D, chart.inverse, ofTangent);
    multiply(n, ofTangent, chart.Ad, ofStart);
    for (std::size_t i = 0; i < joint.inV.size(); ++i) {
      const int r = joint.inV[i], o = joint.offset[i];
      for (int k = 0; k < m; ++k) {
        result.slopeOfV(r, first + k) = timesRatios(L, n, o, own, m, k);
        result.slopeOfStart(r, first + k) -= timesRatios(ofStart, n, o, atStart, m, k);
        double alongTangent = timesRatios(ofTangent, n, o, own, m, k);
        for (int a = 0; a < n; ++a) {
          alongTangent += L[o * n + a] * ratios.rateSlope(cluster, row + a, k, stage.v);
        }
        for (int j = 0; j < m; ++j) {
          result.slopeOfStart(r, first + j) += alongTangent * result.ofStart(first + k, first + j);
          result.slopeOfChart(r, first + j) += alongTangent * result.ofChart(first + k, first + j);
        }
      }
    }
  }
}

/// From (1) with s = h w: ẇ_η = δw − ad_w w_η.
void ChartDerivatives::tangentRates(const Coordinates& coordinates, const double* G,
                                    VectorIn velocities, MatrixOut C) {
  const ModelTables<double>& tables = coordinates.impl().tables;
  C.setZero();
  for (const Joint& joint : coordinates.turningJoints()) {
    const BodyEntry<double>& body = tables.bodies[joint.body];
    const ClusterEntry& cluster = tables.clusters[body.cluster];
    const int m = cluster.nv, n = velocitySize(body.type);
    const double* own = G + cluster.firstRatio + (body.firstVelocity - cluster.firstVelocity) * m;
    for (int k = 0; k < m; ++k) {
      double column[6], turned[6];
      for (int i = 0; i < n; ++i) {
        column[i] = own[i * m + k];
      }
      bracket(n, velocities.data() + body.firstVelocity, column, turned);
      for (std::size_t i = 0; i < joint.inV.size(); ++i) {
        C(joint.inV[i], cluster.firstV + k) = -turned[joint.offset[i]];
      }
    }
  }
}

}  // namespace kempe::detail
