"""The `tile` dialect: which slices are loaded, computed and stored when, and where they lie.

A `tile.program` stands behind the `tpu.Group` that it is for, one for each core.
"""

from xdsl.ir import Dialect

from xdsl_tpu.dialects.tile.buffer import BufferType
from xdsl_tpu.dialects.tile.ops import (
    AllocOp,
    ComputeOp,
    LoadOp,
    ProgramOp,
    StepOp,
    StoreOp,
)

__all__ = ["AllocOp", "BufferType", "ComputeOp", "LoadOp", "ProgramOp", "StepOp", "StoreOp", "Tile"]

Tile = Dialect("tile", [ProgramOp, AllocOp, LoadOp, StoreOp, ComputeOp], [BufferType])
"""The dialect."""
