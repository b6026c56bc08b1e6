"""What opens an ONNX file: the die finder, the near look, the photo look, and their manifest."""
