"""Combinations of rankers: the best blend of a few, mixtures of many, and the pool that any ranker can join."""
