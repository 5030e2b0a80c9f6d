"""IR to IR."""
