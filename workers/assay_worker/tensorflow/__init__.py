"""TensorFlow."""
