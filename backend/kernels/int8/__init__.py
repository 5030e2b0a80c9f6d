"""Kernels on quantised integers; every one gives exactly what the integer interpreter gives."""
