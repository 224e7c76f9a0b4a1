"""Statistical tests and confidence intervals over queries."""
