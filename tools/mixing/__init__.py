"""Which layers of a quantised network to compute in wider formats, and what thresholds to take."""
