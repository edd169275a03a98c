"""Runs models on a deep-learning framework for Assay, as a process of its own."""
