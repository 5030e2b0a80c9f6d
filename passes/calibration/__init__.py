"""Which range every tensor's numbers lie in, before anything is quantised.

`table` is the file such ranges are kept in, `import_table` the pass that puts them into the
types of top IR, `ranges` the rules from a threshold to a range, `spread` the adjustments that
let neighbouring ops share a scale.
"""
