// SPDX-License-Identifier: Apache-2.0
#include "feedrate/tune/model/surrogate.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

namespace feedrate::surrogate_tests {
namespace {

using Catch::Approx;

TEST_CASE("The Cholesky factor solves what it was made of", "[surrogate]") {
  // Bug: a triangle taken for the other one, or a row of the factor that forgets one before it.
  // With b = A x the square of L^-1 b is b A^-1 b = x A x.
  const double matrix[3][3] = {{4, 2, 0.4}, {2, 5, 1}, {0.4, 1, 3}}, x[3] = {1, 2, 3};
  Cholesky factor;
  std::vector<double> solved;
  double expected = 0, squares = 0;
  for (int row = 0; row < 3; ++row) {
    factor.append({matrix[row], matrix[row] + row + 1});
    double b = 0;
    for (int column = 0; column < 3; ++column) b += matrix[row][column] * x[column];
    factor.solve_next(solved, b);
    expected += b * x[row];
    squares += solved.back() * solved.back();
  }
  CHECK(squares == Approx(expected));
  CHECK(factor.log_determinant() == Approx(std::log(4 * (15 - 1) - 2 * (6 - 0.4) + 0.4 * (2 - 2))));
}

std::vector<Candidate> line_of_workers() {
  std::vector<Candidate> candidates;
  for (const int workers : {1, 2, 4, 8, 16}) {
    Candidate candidate;
    candidate.config = {.workers = workers, .prefetch = 2};
    candidate.log_predicted = std::log(100.0 * workers);
    candidates.push_back(candidate);
  }
  return candidates;
}

TEST_CASE("A measurement corrects its neighbours most, and is certain itself", "[surrogate]") {
  // Bug: a correction that spreads evenly, or a deviation that does not shrink.
  Surrogate surrogate(line_of_workers(), 1);
  for (int round = 0; round < 4; ++round) surrogate.observe(4, std::log(1000.0), 10.0 * round);
  surrogate.learn();
  CHECK(std::exp(surrogate.mean(4)) == Approx(1000).epsilon(0.05));
  const auto correction = [&](std::size_t i) {
    return surrogate.mean(i) - line_of_workers()[i].log_predicted;
  };
  CHECK(correction(4) < correction(3));
  CHECK(correction(3) < correction(0));
  CHECK(surrogate.deviation(4) < surrogate.deviation(3));
  CHECK(surrogate.deviation(3) < surrogate.deviation(0));
}

TEST_CASE("Noise is estimated from rounds that disagree", "[surrogate]") {
  // Bug: an assumed noise, too large for a quiet machine and too small for a noisy one.
  const auto noise_of = [](double spread) {
    Surrogate surrogate(line_of_workers(), 1);
    for (int round = 0; round < 12; ++round) {
      const double jitter = round % 2 == 0 ? spread : -spread;
      surrogate.observe(2, std::log(400.0) + jitter, 100.0 * round);
    }
    surrogate.learn();
    return surrogate.noise();
  };
  CHECK(noise_of(0.005) < 0.02);
  CHECK(noise_of(0.08) > 0.05);
}

}  // namespace
}  // namespace feedrate::surrogate_tests
