"""What is made of scorers that are there already: calibrations of them, and mixtures."""
