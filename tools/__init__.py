"""Command lines; thin."""
