"""Models of other tools as our scorers, and our scorers as models of other tools."""
