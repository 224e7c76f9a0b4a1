"""Chooses the parameters and the number of rounds of a ranker."""
