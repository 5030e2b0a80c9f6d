"""Attention written as products and a softmax becomes one op."""
