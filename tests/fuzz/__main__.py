"""`python -m fuzz`: run the fuzzers for a while and say what they found."""

import argparse
import random
import sys

from fuzz.campaign import FUZZERS, campaign


def main():
    options = _options()
    seed = random.randrange(2**31) if options.seed is None else options.seed
    print(f"seed {seed}, {options.seconds:g} s for each of: {', '.join(options.only)}", flush=True)
    found, idle = [], []
    for name in options.only:
        result = campaign(name, seed, seconds=options.seconds, first=options.first, cases=options.cases)
        outcomes = "".join(f", {number} {outcome}" for outcome, number in sorted(result.outcomes.items()))
        print(f"{name}: {result.cases} cases{outcomes}; {len(result.findings)} findings", flush=True)
        for finding in result.findings:
            print(f"  {finding.problem}\n    again: {finding.command}", flush=True)
        found += result.findings
        idle += [] if result.cases else [name]
    if idle:
        print(f"no case of {', '.join(idle)} ended in time: use more --seconds", flush=True)
    return 1 if found or idle else 0


def _options():
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument(
        "only",
        nargs="*",
        metavar="FUZZER",
        help=f"of {', '.join(FUZZERS)}, such as imports:catboost for a part; by default all",
    )
    parser.add_argument("--seed", type=int, help="by default a new one for each run")
    parser.add_argument("--seconds", type=float, default=60.0, help="time budget for each fuzzer")
    parser.add_argument("--first", type=int, default=0, metavar="CASE", help="the case to begin with")
    parser.add_argument("--cases", type=int, help="the most cases for each fuzzer")
    options = parser.parse_args()
    options.only = list(dict.fromkeys(options.only)) or list(FUZZERS)
    unknown = {one.partition(":")[0] for one in options.only} - set(FUZZERS)
    if unknown:
        parser.error(f"no fuzzer {', '.join(sorted(unknown))}; there are {', '.join(FUZZERS)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
