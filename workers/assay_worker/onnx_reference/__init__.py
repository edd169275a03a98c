"""The evaluator of the onnx package."""
