"""Online experiments: interleaving and A/B tests, their power, and verdicts that hold at any time."""
