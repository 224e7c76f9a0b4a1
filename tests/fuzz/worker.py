"""The process that runs the cases of one fuzzer; `campaign` starts and watches it."""

import importlib
import json
import os
import resource
import sys
import warnings

import numpy as np

MEMORY = 4 << 30  # what a case may add to the process; a file of a few KB has no claim to more


def main(name, seed, first, stop):
    module, _, part = name.partition(":")
    fuzzer = importlib.import_module(module).prepared(*[part] * bool(part))
    _limit_memory()
    warnings.simplefilter("ignore")
    for case in range(first, stop):
        _say(case=case)
        try:
            outcome = fuzzer(np.random.default_rng([seed, case]))
        except Exception as error:  # whatever a case lets through is a finding
            outcome = f"{type(error).__name__}: {str(error)[:300]}"
        _say(case=case, outcome=outcome)


def _limit_memory():
    """Turn a claim of too much memory into a MemoryError, which no case may answer with.

    The hard limit stays, so that a tool started later can have more.
    """
    if "libasan" in os.environ.get("LD_PRELOAD", ""):
        return  # it reserves terabytes of addresses for itself
    with open("/proc/self/statm") as statm:  # noqa: PTH123
        used = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _say(**message):
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
