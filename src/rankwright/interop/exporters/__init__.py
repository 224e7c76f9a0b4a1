"""Our scorers as model files of other libraries and search engines."""
