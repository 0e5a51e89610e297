// SPDX-License-Identifier: Apache-2.0
// The Cholesky factor of a small covariance matrix.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace feedrate::inline v0 {

/// L with L L^T = matrix, which is symmetric and positive definite: n x n, some dozens, and grows
/// by a row and a column at a time. Source: G. H. Golub, C. F. Van Loan, "Matrix Computations",
/// algorithm 4.2.2.
class Cholesky {
 public:
  std::size_t size() const noexcept { return lower_.size(); }

  /// The matrix's next row: its elements left of the diagonal, and the one on it.
  void append(const std::vector<double>& row) {
    std::vector<double> lower;
    for (std::size_t j = 0; j < size(); ++j) lower.push_back(solved(j, lower, row[j]));
    double rest = row.back();
    for (const double element : lower) rest -= element * element;
    lower.push_back(std::sqrt(std::max(rest, 1e-15)));
    lower_.push_back(std::move(lower));
  }

  /// Appends to L^-1 values, which are known but for the last row, the last one's.
  void solve_next(std::vector<double>& known, double value) const {
    known.push_back(solved(known.size(), known, value));
  }

  double log_determinant() const {
    double sum = 0;
    for (std::size_t i = 0; i < lower_.size(); ++i) sum += 2 * std::log(lower_[i][i]);
    return sum;
  }

 private:
  /// The element of L^-1 values in row i, from those before it.
  double solved(std::size_t i, const std::vector<double>& before, double value) const {
    for (std::size_t k = 0; k < i; ++k) value -= lower_[i][k] * before[k];
    return value / lower_[i][i];
  }

  std::vector<std::vector<double>> lower_;  ///< row i has i + 1 elements
};

}  // namespace feedrate::inline v0
