"""Base classes of rankers, and parts that several methods share."""
