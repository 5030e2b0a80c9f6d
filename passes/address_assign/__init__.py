"""Where every tensor lives in the chip's DDR.

`buffers` and `planner` work on plain values and know nothing of the IR. `lifetimes` turns a
function into buffers, `views` says which results share their operand's bytes, `assign` is the
pass that puts addresses into the types.
"""
