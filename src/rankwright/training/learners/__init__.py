"""Weak learners: each fits weak models to one training set, following the signal of a boosting rule."""
