"""Instruction sequences: functions of local tensors that kernels of both kinds are made of.

A sequence knows neither IR nor DDR: it is given the tensors to read, to write and to work in.
None computes in place, because the AR form pays double for that. "Cycles" counts one per EU
width of 16-bit elements (32 elements in each of 64 lanes); an f32 instruction costs two of them.
"""
