"""AutoRanker: the best mixture of rankers that the judged queries allow, and its value on new queries."""
