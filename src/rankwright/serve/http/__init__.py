"""HTTP: the application, requests and responses, routes, health, metrics, tokens and processes."""
