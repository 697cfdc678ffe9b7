#include "kempe/coriolis.hpp"

#include "algorithms/term_evaluation.hpp"

namespace kempe {

using namespace detail;  // NOLINT(google-build-using-namespace): this file implements on detail

template <typename T>
void coriolisMatrix(const Model& model, BasicData<T>& data, VectorInOf<T> q, VectorInOf<T> v,
                    MatrixOutOf<T> C) {
  TermEvaluation<T> e(model, data);
  e.requireMatrix("C", C, e.tables->nv, e.tables->nv);
  e.wholeRotors = true;
  e.request.coriolis = matrixAt<T>(C);
  e.request.coriolisMemory = e.data.coriolis.data();
  e.run(q, &v);
}

template void coriolisMatrix<double>(const Model&, BasicData<double>&, VectorInOf<double>,
                                     VectorInOf<double>, MatrixOutOf<double>);
template void coriolisMatrix<float>(const Model&, BasicData<float>&, VectorInOf<float>,
                                    VectorInOf<float>, MatrixOutOf<float>);

}  // namespace kempe
