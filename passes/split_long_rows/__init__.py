"""Ops along rows that no lane can hold become ops along parts of them."""
