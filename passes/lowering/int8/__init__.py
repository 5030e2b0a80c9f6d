"""Lowering to 8-bit integers: symmetric, filters per output channel, the rest per tensor.

Formulas are those of tpu-mlir 1.30.2, down to the precision that each is computed in:
multipliers and shifts come out the same.
"""
