"""Verbs that are groups of tasks, such as `clicks check`."""
