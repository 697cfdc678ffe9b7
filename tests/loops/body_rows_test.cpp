#include "loops/body_rows.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/random_spatial.hpp"

namespace kempe::test {
namespace {

using namespace detail;

struct FormCase {
  RowForm<double> form;
  int rows;
  int firstWithValue;  ///< rows before have no φ
};

/// Every kind of row between bodies.
std::vector<FormCase> everyForm() {
  std::vector<FormCase> cases;
  for (const LoopType type :
       {LoopType::Fixed, LoopType::Revolute, LoopType::Prismatic, LoopType::Cylindrical,
        LoopType::Universal, LoopType::Spherical, LoopType::Planar}) {
    cases.push_back(
        {{.kind = RowKind::Joint, .type = type, .cosine = 0.3}, rowRules(type).count, 0});
  }
  cases.push_back({{.kind = RowKind::Rod, .length = 0.7}, 1, 0});
  cases.push_back({{.kind = RowKind::KnifeEdge}, 1, 1});
  cases.push_back({{.kind = RowKind::Rolling, .ball = true, .length = 0.2}, 3, 2});
  cases.push_back({{.kind = RowKind::Rolling, .ball = false, .length = 0.2}, 3, 2});
  return cases;
}

/// An end after moving for a while with its velocity.
EndMotion<double> moved(const EndMotion<double>& end, double time) {
  const Rotation R = rotationFromVector(time * end.v.angular);
  return {{R * end.X.R, R * end.X.p + time * end.v.linear}, end.v, end.a};
}

struct Row {
  double value = 0.0;
  Force<double> wrench{}, wrenchRate{};
};
std::vector<Row> rowsOf(const FormCase& given, const EndMotion<double>& A,
                        const EndMotion<double>& B) {
  std::vector<Row> rows;
  forBodyRows(given.form, given.rows, A.X, B.X, [&](int r, const auto& row) {
    EXPECT_EQ(r, static_cast<int>(rows.size()));
    rows.push_back({row.value(), row.wrench(), row.wrenchRate(A, B)});
  });
  EXPECT_EQ(static_cast<int>(rows.size()), given.rows);
  return rows;
}

/// The rate of φ is fᵀ (v_B − v_A), and ḟ is the rate of f.
TEST(BodyRows, RatesAreThoseOfValuesAndWrenches) {
  constexpr double h = 1e-5;
  RandomSpatial<double> random(3);
  for (const FormCase& given : everyForm()) {
    EXPECT_TRUE(given.form.betweenBodies());
    for (int i = 0; i < 50; ++i) {
      const EndMotion<double> A{random.transform(), random.motion(), {}};
      const EndMotion<double> B{random.transform(), random.motion(), {}};
      if (given.form.kind == RowKind::Rolling && !given.form.ball) {
        // A wheel that lies flat touches everywhere.
        const double along = dot(A.X.R.column(2), B.X.R.column(2));
        if (std::abs(along) > 0.9) {
          continue;
        }
      }
      const std::vector<Row> rows = rowsOf(given, A, B);
      const std::vector<Row> after = rowsOf(given, moved(A, h), moved(B, h));
      const std::vector<Row> before = rowsOf(given, moved(A, -h), moved(B, -h));
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const std::string name = "kind " + std::to_string(static_cast<int>(given.form.kind)) +
                                 ", row " + std::to_string(r);
        const double slope = (after[r].value - before[r].value) / (2 * h);
        if (static_cast<int>(r) >= given.firstWithValue) {
          EXPECT_NEAR(dot(rows[r].wrench, B.v - A.v), slope, 1e-7) << name;
        } else {
          EXPECT_EQ(rows[r].value, 0.0) << name;
        }
        for (int k = 0; k < 6; ++k) {
          EXPECT_NEAR(rows[r].wrenchRate[k], (after[r].wrench[k] - before[r].wrench[k]) / (2 * h),
                      1e-6)
              << name << ", component " << k;
        }
      }
    }
  }
}

TEST(BodyRows, AreNoneAlongCoordinates) {
  for (const RowKind kind :
       {RowKind::Coupling, RowKind::Function, RowKind::Prescribed, RowKind::Lock, RowKind::Held}) {
    const RowForm<double> form{.kind = kind};
    EXPECT_FALSE(form.betweenBodies());
    forBodyRows(form, 1, Pose{}, Pose{}, [](int, const auto&) { ADD_FAILURE(); });
  }
}

/// The two axes of a universal joint meet at an angle, which shortens the wrench.
TEST(BodyRows, UnitScaleMakesWrenchesUnit) {
  RandomSpatial<double> random(5);
  const RowForm<double> form{.kind = RowKind::Joint, .type = LoopType::Universal, .cosine = 0.6};
  const Pose A = random.transform();
  const Pose B = A * Pose{rotationFromVector(Vector3{std::acos(0.6), 0, 0}), {}};
  forBodyRows(form, 4, A, B, [](int r, const auto& row) {
    const Force<double> f = row.wrench();
    EXPECT_NEAR(row.value(), 0.0, 1e-15);
    EXPECT_EQ(row.turns(), r == 3);
    EXPECT_NEAR(row.unitScale() * norm(row.turns() ? f.moment : f.force), 1.0, 1e-14);
  });
}

}  // namespace
}  // namespace kempe::test
