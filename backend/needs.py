"""Cycles that no program of a network beats: what must move once, what must be multiplied.

Counted on the network (Top IR), not on a program of it: weights of equal content once, however
often they are used (the steps of a recurrent layer), and of a table the rows that are looked up.
"""

import hashlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interfaces.shape import known_shape
from xdsl_tpu.dialects.main_function import find_main
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.packed_weights import floats_of
from xdsl_tpu.dialects.weights import weights_of

BYTES = {"F32": 4, "F16": 2, "BF16": 2, "INT8": 1}
"""Of a weight, by number format."""

HOST_BYTES = 4
"""Of an element of an input or output: they are f32, or int32."""

_FIRST = 256
"""Elements at the start of arrays by which most that differ are told apart."""

_TABLES = (top.GatherOp, top.GatherElementsOp, top.GatherNDOp)


@dataclass(frozen=True)
class Needs:
    """What a network must do: elements of its weights, of what it takes and gives, products.

    `packed` are bytes of matrices in 4 or 8 bits with their scales and zero points.
    """

    weights: int
    inputs: int
    outputs: int
    macs: int
    packed: int = 0

    def cycles(self, quantize: str, chip: Chip, cores: int = 1) -> int:
        """The larger of moving all of it once at DDR's rate and of multiplying at full rate.

        Cores share both out: cycles of several are those in which each has all of the bandwidth.
        """
        width = BYTES[floats_of(quantize)]
        moved = self.packed + self.weights * width + (self.inputs + self.outputs) * HOST_BYTES
        ddr = moved / (chip.load_bytes_per_cycle / chip.tensor_derate)
        return math.ceil(max(ddr, self.macs / chip.array_peak(width)) / cores)


def needs_of(module: ModuleOp) -> Needs:
    """Those of a module of Top IR with static shapes and its weights attached.

    Raises TpuError when it has no main function.
    """
    main = find_main(module)[1]
    ops = list(main.body.block.ops)
    returned = ops[-1].operands
    arrays = weights_of(module)
    packed = {part for op in ops if isinstance(op, top.A16MatMulOp) for part in op.operands[1:4]}
    floats = [op for op in ops if isinstance(op, top.WeightOp) and op.output not in packed]
    return Needs(
        weights=_weights(module, floats),
        inputs=sum(map(_elements, main.args)),
        outputs=sum(map(_elements, returned)),
        macs=sum(map(_macs, ops)),
        packed=sum(arrays[name_of(part) or ""].nbytes for part in packed),
    )


def _elements(value: SSAValue) -> int:
    return math.prod(known_shape(value.type) or ())


def _weights(module: ModuleOp, ops: list[top.WeightOp]) -> int:
    """Elements that any order of the ops must load."""
    arrays = weights_of(module)
    alike: dict[object, list[top.WeightOp]] = {}
    for op in ops:
        array = arrays[name_of(op) or ""]
        head = (array.shape, array.reshape(-1)[:_FIRST].tobytes())
        alike.setdefault(head, []).append(op)
    sizes: dict[object, int] = {}
    for head, some in alike.items():
        for op in some:
            key = (head, _digest(arrays[name_of(op) or ""]) if len(some) > 1 else b"")
            sizes[key] = max(sizes.get(key, 0), _read(op.results[0]))
    return sum(sizes.values())


def _digest(array: npt.NDArray[Any]) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(array).data).digest()


def _read(weight: SSAValue) -> int:
    """Elements of a weight that are read: those of a table, if it is only looked up in, are as
    many as the result has."""
    read = 0
    for use in weight.uses:
        is_table = isinstance(use.operation, _TABLES) and use.index == 0
        read += _elements(use.operation.results[0] if is_table else weight)
    return min(read, _elements(weight))


def _macs(op: Operation) -> int:
    """Multiply-accumulates of a convolution, product or recurrent layer, by its definition."""
    if isinstance(op, top.GRUOp | top.LSTMOp):  # every step of every sequence meets all weights
        steps, batch, _ = known_shape(op.input.type) or (0, 0, 0)
        return steps * batch * (_elements(op.filter) + _elements(op.recurrence))
    if isinstance(op, top.A16MatMulOp):
        return _elements(op.output) * (known_shape(op.input.type) or (0,))[-1]
    if not isinstance(op, top.ConvOp | top.DeconvOp | top.MatMulOp):
        return 0
    taken, factor = op.operands[0], known_shape(op.operands[1].type) or ()
    match op:
        case top.ConvOp():  # filter [oc, ic / group, *kernel]
            return _elements(op.results[0]) * math.prod(factor[1:])
        case top.DeconvOp():  # the same from the input's side
            given = known_shape(op.results[0].type) or (0, 0)
            channels = given[1] // op.group.value.data
            return _elements(taken) * channels * math.prod(factor[2:])
        case top.MatMulOp():
            return _elements(op.results[0]) * _depth(op, factor)


def _depth(op: top.MatMulOp, right: tuple[int, ...]) -> int:
    """K, which the right side has whatever the left one's shape."""
    if op.right_transpose.value.data or len(right) == 1:
        return right[-1]
    return right[1] if op.hdim_is_batch.value.data else right[-2]
