"""Rewrites of `top` IR that suit one chip, one family of ops a file."""
