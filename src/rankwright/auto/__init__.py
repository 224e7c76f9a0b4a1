"""AutoRanker: the best mixture of rankers that the judged queries allow, and what it will be worth."""
