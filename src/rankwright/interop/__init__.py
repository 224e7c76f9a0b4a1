"""Reads models of other tools as scorers, and writes scorers as models of other tools."""
