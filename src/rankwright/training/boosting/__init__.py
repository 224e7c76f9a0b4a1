"""The boosting loop and the rules that it follows."""
