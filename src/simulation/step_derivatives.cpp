#include "simulation/step_derivatives.hpp"

namespace kempe::detail {

// Products are lazy: they need no memory.

void StageDerivatives::resize(int nv) {
  for (Eigen::MatrixXd* matrix :
       {&ofStart, &ofChart, &slopeOfStart, &slopeOfChart, &slopeOfV, &aOfQ, &aOfV, &aOfTau}) {
    matrix->setZero(nv, nv);
  }
}

void StageDerivatives::tangent(const Columns& start, const Columns& y, Columns& result) const {
  if (flat) {
    result = start + y;
    return;
  }
  result = ofStart.lazyProduct(start);
  result += ofChart.lazyProduct(y);
}

void StageDerivatives::slope(const Columns& start, const Columns& y, const Columns& v,
                             Columns& result) const {
  if (flat) {
    result = v;
    return;
  }
  result = slopeOfStart.lazyProduct(start);
  result += slopeOfChart.lazyProduct(y);
  result += slopeOfV.lazyProduct(v);
}

void StageDerivatives::acceleration(const Columns& tangent, const Columns& v,
                                    Columns& result) const {
  result = aOfQ.lazyProduct(tangent);
  result += aOfV.lazyProduct(v);
  result.rightCols(aOfTau.cols()) += aOfTau;
}

void StepDerivatives::resize(int nv) {
  for (Columns* columns : {&tangent, &v, &startTangent, &startV}) {
    columns->setZero(nv, 3 * nv);
  }
  stage.resize(nv);
}

void StepDerivatives::start() {
  const Eigen::Index n = startV.rows();
  startTangent.setZero();
  startV.setZero();
  startTangent.leftCols(n).setIdentity();
  startV.middleCols(n, n).setIdentity();
}

}  // namespace kempe::detail
