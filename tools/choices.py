"""What is chosen by name, on command lines and in the interface."""

QUANTIZE = ("F32", "F16", "BF16", "INT8")
"""Number formats of programs, but for those of packed matrices."""

METHODS = ("max", "percentile", "kl", "mse", "auto")
"""How ranges are found."""

ENGINES = ("auto", "onnxruntime", "interpreter")
"""What runs a float network."""
