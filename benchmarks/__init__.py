"""Side by side with the peers: every table is measured in one run on one machine."""
