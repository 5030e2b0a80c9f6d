"""Ops over whole tensors, from DDR to DDR: a file per family, listed in `backend/leaves.py`."""
