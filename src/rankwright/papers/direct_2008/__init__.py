"""Direct optimisation of evaluation measures (Xu, Liu, Lu, Li & Ma, SIGIR 2008, 2010)."""
