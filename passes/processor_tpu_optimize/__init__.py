"""Rewrites of `tpu` ops that suit one chip: one pattern per file, joined by the pass."""
