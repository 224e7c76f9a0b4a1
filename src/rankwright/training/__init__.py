"""What all fits share: the prepared training set, bins, samples, the monitor and the history of rounds."""
