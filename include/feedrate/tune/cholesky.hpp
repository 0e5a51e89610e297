// SPDX-License-Identifier: Apache-2.0
// The Cholesky factor of a small covariance matrix.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace feedrate {

/// L with L L^T = matrix, which is symmetric and positive definite: n x n, some dozens. Source:
/// G. H. Golub, C. F. Van Loan, "Matrix Computations", algorithm 4.2.2.
class Cholesky {
 public:
  explicit Cholesky(std::vector<std::vector<double>> matrix) : lower_(std::move(matrix)) {
    for (std::size_t i = 0; i < lower_.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = lower_[i][j];
        for (std::size_t k = 0; k < j; ++k) sum -= lower_[i][k] * lower_[j][k];
        lower_[i][j] = i == j ? std::sqrt(std::max(sum, 1e-15)) : sum / lower_[j][j];
      }
    }
  }

  /// Replaces `values`, n of them, by L^-1 values.
  void solve_lower(std::vector<double>& values) const {
    for (std::size_t i = 0; i < lower_.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) values[i] -= lower_[i][k] * values[k];
      values[i] /= lower_[i][i];
    }
  }

  /// Replaces `values` by matrix^-1 values.
  void solve(std::vector<double>& values) const {
    solve_lower(values);
    for (std::size_t i = lower_.size(); i-- > 0;) {
      for (std::size_t k = i + 1; k < lower_.size(); ++k) values[i] -= lower_[k][i] * values[k];
      values[i] /= lower_[i][i];
    }
  }

  double log_determinant() const {
    double sum = 0;
    for (std::size_t i = 0; i < lower_.size(); ++i) sum += 2 * std::log(lower_[i][i]);
    return sum;
  }

 private:
  std::vector<std::vector<double>> lower_;
};

}  // namespace feedrate
