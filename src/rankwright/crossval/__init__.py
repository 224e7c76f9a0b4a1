"""Cross-validation: folds, the fits of every fold, and the values of all test queries."""
