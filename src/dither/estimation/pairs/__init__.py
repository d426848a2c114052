"""Two questions that the same people answered: tables, covariance, correlation, regression."""
