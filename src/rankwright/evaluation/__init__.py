"""Evaluates and compares systems on judged documents."""
