"""Learning to rank by boosting."""
