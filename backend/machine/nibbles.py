"""int4 tensors in local memory: two elements per byte.

The reference has three rules: the precision code 6, blocks of 128 input channels in filters
(64 bytes of half a byte each), and storage rounded up to whole bytes. What follows from them is
here: the rows of a channel lie one behind the other, so that channel is a row of ceil(h * w / 2)
bytes, aligned like any other. That the earlier element is in the low half of its byte is an
assumption; no recording of an int4 command exists.
"""

from dataclasses import dataclass

import numpy as np

from xdsl_tpu.backend.machine.elements import Array
from xdsl_tpu.backend.machine.memory import Placed, Quad


@dataclass(frozen=True, slots=True)
class Nibbles(Placed):
    """An int4 tensor of `sizes` (n, c, h, w); `shape` and `views` are those of its bytes."""

    sizes: Quad
    signed: bool

    def read(self) -> Array:
        """The elements as (n, c, h, w), one int8 or uint8 each."""
        n, c, h, w = self.sizes
        packed = Placed.read(self).astype(np.uint8)
        halves = np.stack([packed & 15, packed >> 4], axis=-1).reshape(n, c, -1)[..., : h * w]
        values = halves.reshape(n, c, h, w)
        return (values ^ 8).view(np.int8) - np.int8(8) if self.signed else values

    def write(self, values: Array) -> None:
        """Store the low four bits of (n, c, h, w) values; half a byte left over is kept."""
        n, c, h, w = self.sizes
        old = Placed.read(self)
        halves = np.zeros((n, c, 2 * self.shape[3]), np.uint8)
        halves[..., -1] = old[:, :, 0, -1] >> 4
        halves[..., : h * w] = values.reshape(n, c, h * w).astype(np.uint8) & 15
        Placed.write(self, (halves[..., 0::2] | halves[..., 1::2] << 4)[:, :, None])


def bytes_shape(sizes: Quad) -> Quad:
    """The shape in bytes of an int4 tensor of (n, c, h, w).

    >>> bytes_shape((1, 3, 3, 5))
    (1, 3, 1, 8)
    """
    n, c, h, w = sizes
    return n, c, 1, -(-h * w // 2)
