"""Benchmarks against other libraries; every table is measured in one run on one machine."""
