"""Features that search engines logged."""
