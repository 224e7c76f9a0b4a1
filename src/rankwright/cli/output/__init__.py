"""What the command line prints: the console, progress and live tables."""
