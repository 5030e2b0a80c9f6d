"""What a sequence for a function of one tensor looks like."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.tensor import DType, LocalTensor

Tensors: TypeAlias = Sequence[LocalTensor]


class Compute(Protocol):
    """out = f(x), all tensors of one shape; `tables` hold coefficients in every lane."""

    def __call__(
        self, e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors
    ) -> None: ...


@dataclass(frozen=True)
class Unary:
    """A function of one EU-aligned tensor, element by element.

    `scratch` are the element types of the tensors it works in, shaped like the operand; `out`
    must be none of them and not the operand. `cycles` are those of one EU width of 16-bit
    elements. Each of `tables` is a polynomial's coefficients, from t0 on, in `table_dtype`.
    """

    compute: Compute
    scratch: tuple[DType, ...]
    tables: tuple[tuple[float, ...], ...]
    cycles: int
    table_dtype: DType = DType.F16


def halves(words: str) -> tuple[float, ...]:
    """Numbers given as f16 bit patterns in hexadecimal.

    >>> halves("3c00 b800")
    (1.0, -0.5)
    """
    data = b"".join(int(word, 16).to_bytes(2, "little") for word in words.split())
    return struct.unpack(f"<{len(data) // 2}e", data)


def as_type(tensor: LocalTensor, dtype: DType) -> LocalTensor:
    """The same bits read as another element type of the same width."""
    return LocalTensor(tensor.address, tensor.shape, tensor.strides, dtype, tensor.layout)
