"""Products of rows with weights, written with their columns over the lanes."""
