"""Scores of other tools beside ours, for models that we read and write: `make engines`.

Every model scores random documents and, for every split, documents whose value is on the threshold, just below and
just above it, with missing values and zeros of both signs among the others.
"""
