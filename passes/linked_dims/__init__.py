"""Dimensions that nothing tells apart, dropped or merged in all values that are linked by them."""
