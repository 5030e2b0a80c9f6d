"""Orders of rows: which rows of tokens an op works on first, where it does not matter to it."""
