"""The boosting loop, and the protocol of the rules that it follows."""
