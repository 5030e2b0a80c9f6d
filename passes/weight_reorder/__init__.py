"""Weights in the layouts the chip reads: one file per family, joined by the pass."""
