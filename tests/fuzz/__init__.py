"""Fuzzers: damaged model files, damaged data files, wrong calls of the bindings. Run them with `make fuzz`."""
