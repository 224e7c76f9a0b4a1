"""Parameters of rankers: how they are declared, checked, spelled and searched."""
