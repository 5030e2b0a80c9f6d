"""Layer groups: ops that run one after the other without leaving local memory.

`values` has the plain types; `shapes`, `slicing` and `lmem_size` say what a group's slices are
and how large; `allocate` and `ring` place them; `search` chooses the groups; `build` writes the IR.
"""
