"""Documents, queries and judgements, read from files of many formats."""
