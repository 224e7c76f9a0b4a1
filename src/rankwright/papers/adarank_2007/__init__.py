"""AdaRank (Xu & Li, SIGIR 2007)."""
