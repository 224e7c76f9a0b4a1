"""Fuzzers: damaged files of all kinds, hostile texts, wrong calls of the bindings. Run them with `make fuzz`."""
