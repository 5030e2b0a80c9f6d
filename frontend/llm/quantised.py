"""Checkpoints that are quantised already: GPTQ and AWQ, as their tools store them.

Both keep, for a matrix [N, K], numbers q of `bits` bits in 32-bit words and zero points and scales
for groups of K. GPTQ packs along K, and stores zero points less 1 (format `gptq`; `gptq_v2` does
not); with `desc_act` rows of K are in another order, that of `g_idx`. AWQ packs along N, eight
numbers in the order 0 2 4 6 1 3 5 7.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.packed_weights import BITS, PackedMatrix, check_groups, pack
from xdsl_tpu.frontend.llm.tensors import Checkpoint

Array = npt.NDArray[Any]

AWQ_ORDER = (0, 4, 1, 5, 2, 6, 3, 7)
"""Where in a word AWQ has the eight numbers of 4 bits, counted in nibbles."""


@dataclass(frozen=True)
class StoredQuantisation:
    """What config.json says of a quantised checkpoint."""

    method: str
    bits: int
    group: int
    offset: int
    """What stored zero points lack."""


def stored_quantisation(config: Mapping[str, Any]) -> StoredQuantisation | None:
    """How a checkpoint is quantised; None when it is not.

    Raises TpuError for a method, a number of bits or a form that is not known.
    """
    given: Any = config.get("quantization_config")
    if not given:
        return None
    entries = dict(given)
    method = str(entries.get("quant_method", "")).lower()
    bits = int(entries.get("bits", entries.get("w_bit", 0)))
    group = int(entries.get("group_size", entries.get("q_group_size", 0)))
    if method not in READERS:
        raise TpuError(
            f"quantization_config: quant_method '{method or 'none'}' is not supported; "
            f"{', '.join(READERS)} are, and models in floats"
        )
    if bits not in (BITS if method == "gptq" else (4,)):
        raise TpuError(f"quantization_config: {method} of {bits} bits is not supported")
    version = str(entries.get("version", "gemm")).lower()
    if method == "awq" and version != "gemm":
        raise TpuError(f"quantization_config: awq of version '{version}' is not supported, gemm is")
    if entries.get("zero_point") is False:
        raise TpuError("quantization_config: awq without zero points is not supported")
    form = str(entries.get("checkpoint_format", "gptq"))
    if method == "gptq" and form not in ("gptq", "gptq_v2"):
        raise TpuError(f"quantization_config: checkpoint_format '{form}' is not supported")
    return StoredQuantisation(method, bits, group, int(method == "gptq" and form == "gptq"))


def read_packed(checkpoint: Checkpoint, name: str, kind: StoredQuantisation) -> PackedMatrix:
    """The matrix [N, K] that tensors `name.qweight`, `.qzeros` and `.scales` hold.

    Raises TpuError for rows in another order, and zero points beyond their bits.
    """
    words, zeros = (checkpoint[f"{name}.{part}"] for part in ("qweight", "qzeros"))
    scales = checkpoint.floats(f"{name}.scales")
    numbers, origin = READERS[kind.method](words, zeros, kind)
    group = kind.group if kind.group > 0 else numbers.shape[1]
    order = f"{name}.g_idx"
    if order in checkpoint:
        columns: int = numbers.shape[1]
        expected = np.arange(columns) // group
        if not np.array_equal(checkpoint[order], expected):
            raise TpuError(
                f"{name}: its rows are ordered by activation (desc_act); groups of such "
                "matrices are not neighbours, which the chip needs: quantise without desc_act"
            )
    check_groups(numbers.shape[1], kind.bits, group)
    if origin.max(initial=0) >= 1 << kind.bits:
        raise TpuError(f"{name}: a zero point is beyond {kind.bits} bits")
    return PackedMatrix(
        pack(numbers, kind.bits),
        np.ascontiguousarray(scales.T.astype(np.float16)),
        origin.astype(np.uint8),
        kind.bits,
        group,
    )


def _gptq(words: Array, zeros: Array, kind: StoredQuantisation) -> tuple[Array, Array]:
    numbers = _fields(words.T, kind.bits, range(32 // kind.bits))
    origin = _fields(zeros, kind.bits, range(32 // kind.bits)).astype(np.int32)
    return numbers, (origin.T + kind.offset)


def _awq(words: Array, zeros: Array, kind: StoredQuantisation) -> tuple[Array, Array]:
    numbers = _fields(words, kind.bits, AWQ_ORDER)
    origin = _fields(zeros, kind.bits, AWQ_ORDER).astype(np.int32)
    return np.ascontiguousarray(numbers.T), origin.T


READERS: Mapping[str, Callable[[Array, Array, StoredQuantisation], tuple[Array, Array]]] = {
    "gptq": _gptq,
    "awq": _awq,
}
"""Numbers [N, K] and zero points [N, groups] of what a method stores."""


def _fields(words: Array, bits: int, order: Any) -> npt.NDArray[np.uint8]:
    """Rows of 32-bit words taken apart, in each word the fields in this order."""
    plain = np.ascontiguousarray(words).view(np.uint32)
    count = 32 // bits
    out = np.empty((*plain.shape, count), np.uint8)
    for index, field in enumerate(order):
        out[..., index] = (plain >> np.uint32(field * bits)) & np.uint32((1 << bits) - 1)
    return out.reshape(plain.shape[0], -1)
