"""Keras, old and new, on whatever it runs."""
