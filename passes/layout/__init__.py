"""Which layout every op works in: transpositions inserted, moved and removed.

The passes know ops by `dialects/interfaces/layout.py` only, so they work on any dialect.
`problem` states what is to be minimised as plain values, `min_cut` and `greedy` solve that,
`labels` and `model` read the problem from IR, and `rewrite` puts a solution into it.
"""
