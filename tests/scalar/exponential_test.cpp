// How far the exponential and its kin are off in double: well inside of what enclosures grant.
#include "scalar/exponential.h"

#include <gtest/gtest.h>

#include "honest.h"

namespace assay::testing {
namespace {

using Truth = void (*)(mpfr_ptr);

// The largest error in units of the last place of the exact result, over arguments in [low, high].
double worst_error(double (*f)(double), Truth truth, double low, double high) {
  mpfr_t exact, off;
  mpfr_inits2(200, exact, off, nullptr);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    const double x = uniform(low, high);
    mpfr_set_d(exact, x, MPFR_RNDN);
    truth(exact);
    const double rounded = mpfr_get_d(exact, MPFR_RNDN);
    mpfr_d_sub(off, f(x), exact, MPFR_RNDN);
    const double unit = std::nextafter(std::fabs(rounded), kInf) - std::fabs(rounded);
    worst = std::fmax(worst, std::fabs(mpfr_get_d(off, MPFR_RNDN)) / unit);
  }
  mpfr_clears(exact, off, nullptr);
  return worst;
}

void exact_exp(mpfr_ptr x) { mpfr_exp(x, x, MPFR_RNDN); }
void exact_tanh(mpfr_ptr x) { mpfr_tanh(x, x, MPFR_RNDN); }
void exact_sigmoid(mpfr_ptr x) {
  mpfr_neg(x, x, MPFR_RNDN);
  mpfr_exp(x, x, MPFR_RNDN);
  mpfr_add_ui(x, x, 1, MPFR_RNDN);
  mpfr_ui_div(x, 1, x, MPFR_RNDN);
}

TEST(Exponential, IsOffByAUnitAtMost) {
  EXPECT_LE(worst_error(exp, exact_exp, -1, 1), 1.01);
  EXPECT_LE(worst_error(exp, exact_exp, -708, 709.7), 1.01);
  EXPECT_LE(worst_error(exp, exact_exp, -745, -708), 1.01);
  EXPECT_LE(worst_error(exp, exact_exp, -1e-8, 1e-8), 1.01);
}

TEST(Exponential, ItsKinAreOffByThreeUnitsAtMost) {
  for (const double reach : {1e-300, 1e-9, 0.1, 1.0, 5.0, 30.0}) {
    EXPECT_LE(worst_error(tanh, exact_tanh, -reach, reach), 3) << reach;
    EXPECT_LE(worst_error(sigmoid, exact_sigmoid, -reach, reach), 3) << reach;
  }
  EXPECT_LE(worst_error(sigmoid, exact_sigmoid, -700, 0), 3);
}

TEST(Exponential, KeepsItsLimits) {
  EXPECT_EQ(exp(0.0), 1);
  EXPECT_EQ(exp(-0.0), 1);
  EXPECT_EQ(exp(-kInf), 0);
  EXPECT_EQ(exp(kInf), kInf);
  EXPECT_EQ(exp(709.79), kInf);
  EXPECT_LT(exp(709.78), kInf);
  EXPECT_GT(exp(-745.13), 0);
  EXPECT_EQ(exp(-745.14), 0);
  EXPECT_EQ(tanh(kInf), 1);
  EXPECT_EQ(tanh(-kInf), -1);
  EXPECT_TRUE(std::signbit(tanh(-0.0)));
  EXPECT_FALSE(std::signbit(tanh(0.0)));
  EXPECT_EQ(tanh(0x1p-1074), 0x1p-1074);
  EXPECT_EQ(sigmoid(kInf), 1);
  EXPECT_EQ(sigmoid(-kInf), 0);
  EXPECT_EQ(sigmoid(0.0), 0.5);
  EXPECT_TRUE(std::isnan(exp(kNan)));
  EXPECT_TRUE(std::isnan(tanh(kNan)));
  EXPECT_TRUE(std::isnan(sigmoid(kNan)));
}

}  // namespace
}  // namespace assay::testing
