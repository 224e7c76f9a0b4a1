"""What scikit-learn's tools ask of an estimator."""
