"""An open, Python-native compiler and machine model for the Sophgo BM1684X TPU, built on xDSL."""

__version__ = "0.1.0"
