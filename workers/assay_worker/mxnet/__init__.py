"""Apache MXNet."""
