"""Retrievers: ways to find the candidates of a query, alone or joined."""
