"""From `top` (what a network computes) to `tpu` (how the chip computes it).

One file per family of ops holds a table `LOWERINGS`: top op -> the function that lowers it.
`table` joins them; `convert` is the pass; `casts` makes element types meet afterwards.
"""
