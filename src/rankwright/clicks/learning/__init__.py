"""Learning rankers from clicks: corrected ones beside their naive twins, and the choice."""
