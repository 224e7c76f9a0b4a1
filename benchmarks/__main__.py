"""`make bench`: every table, one after another."""

from benchmarks import reading

if __name__ == "__main__":  # the readers start processes of their own
    reading.main()
