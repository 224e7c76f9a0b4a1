"""Options that verbs share, configuration files, and how arguments are read."""
