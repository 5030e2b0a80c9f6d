"""Factors go where there are fewer numbers: before products, and into weights."""
