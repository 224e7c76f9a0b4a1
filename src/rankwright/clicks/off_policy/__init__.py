"""Off-policy evaluation: what a new ranker's clicks would have been, from the log of another."""
