"""The pass `split-products`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil
from typing import Literal

import numpy as np
from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.text import module_text
from xdsl_tpu.dialects.weights import Weights, known_weights
from xdsl_tpu.passes.graph import derived_name, rebuilt, tensor_like
from xdsl_tpu.passes.layer_group.base_groups import computing_ops
from xdsl_tpu.passes.measured import Taken, copied, cut_out, cycles_taken
from xdsl_tpu.passes.module_state import State, chip_name, cores_of, require_state
from xdsl_tpu.passes.pipelines import Settings, passes_behind
from xdsl_tpu.passes.tensors import functions, is_weight, required_name, shape_of, size_in_bytes

FULL = 0.3
"""The share of local memory that two matrices may take for nobody to look at them: with values, and
with weights that are loaded ahead, there is room for both."""

PART = 1 / 8
"""The share that a part of one takes at most."""

UNIT = 32
"""Columns of a part, but of the last one, are a multiple of this."""

MOST_PARTS = 16

MOST_OPS = 48
"""Ops that are measured together."""

GAIN = 0.98
"""What it must take at most of what it took."""


@dataclass(frozen=True)
class SplitProductsPass(ModulePass):
    """Make products with large matrices some columns at a time, where that is faster.

        %1 = MatMul(%0, W: 1024x4096)      ->    %a = MatMul(%0, W[:, :1024])
                                                 .. three more
                                                 %1 = Concat(%a, %b, %c, %d)

    A layer group loads the matrix of the next product while it computes this one, if both fit local
    memory. Where they do not, the engines wait for each other: with matrices of 8 MiB the array
    stands still as long as each is loaded. Parts of a matrix come while those before are in use.
    Each column is computed as before.

    Considered are matrices that take much of local memory with the one before or behind; measured
    is what the commands of the ops from the first of them to the last take, where the first matrix
    is there when they begin and where it is not. `when` is `faster`,
    `always` or `never`; `chip` a name or a `.toml` description, by default `module.chip`. Nothing
    is done for several cores, which share what they compute.
    """

    name = "split-products"

    when: Literal["faster", "always", "never"] = "faster"
    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_LOWERED, self.name)
        if self.when == "never" or cores_of(op) > 1:
            return
        description = chip_name(op, self.chip)
        chip, weights = load_chip(description), known_weights(op)
        prices = _Prices(ctx, chip, description)
        for func in functions(op):
            ops = computing_ops(func.body.block)
            for run in list(_crowded(ops, chip)):
                parts = {one: width for one in run if (width := _width(one, chip)) is not None}
                if parts and (self.when == "always" or prices.is_faster(ops, parts)):
                    for one, width in parts.items():
                        _split(one, width, weights)


def _crowded(ops: Sequence[Operation], chip: Chip) -> Iterator[list[Operation]]:
    """Ops with weights, one behind the other, of which each two fill much of local memory."""
    readers = [(op, size) for op in ops if (size := _weight_bytes(op))]
    place = {op: index for index, op in enumerate(ops)}
    room, run = FULL * chip.lanes * chip.local_bytes, list[Operation]()
    for (op, size), (following, more) in pairwise(readers):
        is_near = not run or place[following] - place[run[0]] < MOST_OPS
        if size + more > room and is_near:
            run = [*(run or [op]), following]
        elif run:
            yield run
            run = []
    if run:
        yield run


def _weight_bytes(op: Operation) -> int:
    return sum(size_in_bytes(value) for value in op.operands if is_weight(value))


def _width(op: Operation, chip: Chip) -> int | None:
    """How many columns the parts of a product have, the last one perhaps fewer; None of what is
    none, or small."""
    if not isinstance(op, tpu.MatMulOp) or not is_weight(op.right):
        return None
    flags = op.left_transpose, op.right_transpose, op.output_transpose, op.hdim_is_batch
    if any(flag.value.data for flag in flags):
        return None
    columns = shape_of(op.right)[-1]
    wanted = ceil(size_in_bytes(op.right) / (PART * chip.lanes * chip.local_bytes))
    if wanted == 1:
        return None
    counts = range(wanted, MOST_PARTS + 1)
    alike = (columns // n for n in counts if columns % (n * UNIT) == 0)
    width = next(alike, ceil(columns / min(wanted, MOST_PARTS) / UNIT) * UNIT)
    return width if width < columns else None


def _split(op: Operation, width: int, weights: Weights | None) -> None:
    assert isinstance(op, tpu.MatMulOp)
    *rows, columns = shape_of(op.output)
    build, made = Builder(InsertPoint.before(op)), list[SSAValue]()
    for number, first in enumerate(range(0, columns, width)):
        some = slice(first, min(first + width, columns))
        operands = list(op.operands)
        for place, value in enumerate(operands):
            if value is op.right or (value is op.bias and not is_none(value)):
                operands[place] = _columns(value, number, some, weights, build)
        part = rebuilt(
            op,
            operands=operands,
            result_types=[tensor_like(op.output, (*rows, some.stop - some.start))],
            location=name_loc(derived_name(op, f"_part{number}")),
        )
        made.append(build.insert(part).output)
    joined = tpu.ConcatOp.make(op.location, made, result_types=[op.output.type], axis=len(rows))
    build.insert(joined)
    op.output.replace_all_uses_with(joined.output)
    olds = [value.owner for value in op.operands if is_weight(value)]
    op.detach()
    op.erase()
    for old in olds:
        if isinstance(old, top.WeightOp) and not old.output.uses:
            if weights is not None:
                weights.pop(required_name(old), None)
            old.detach()
            old.erase()


def _columns(
    value: SSAValue, number: int, some: slice, weights: Weights | None, build: Builder
) -> SSAValue:
    """Some columns of a weight, as a weight."""
    name = f"{required_name(value)}_part{number}"
    made = top.WeightOp.make(
        name, (), result_types=[tensor_like(value, (*shape_of(value)[:-1], some.stop - some.start))]
    )
    old = value.owner
    assert isinstance(old, top.WeightOp)
    made.attributes = dict(old.attributes)
    if weights is not None:
        numbers = weights[required_name(value)].reshape(shape_of(value))
        weights[name] = np.ascontiguousarray(numbers[..., some])
    return build.insert(made).output


@dataclass
class _Prices:
    """Measures runs of ops, each kind of them once."""

    ctx: Context
    chip: Chip
    description: str
    known: dict[str, tuple[Taken, Taken] | None] = field(
        default_factory=dict[str, tuple[Taken, Taken] | None]
    )

    def is_faster(self, ops: Sequence[Operation], parts: Mapping[Operation, int]) -> bool:
        """Whether all ops from the first that is split to the last take less then.

        That counts where the first matrix is there when they begin, or else in the mean with where
        it is not, as local memory is often full in front of them; there they begin with the op that
        makes what the first one reads.
        """
        places = [place for place, op in enumerate(ops) if op in parts]
        first, last = places[0], places[-1] + 1
        there = self._once(ops[first:last])
        if there is None:
            return False
        after, before = (one.in_a_row for one in there)
        if after <= GAIN * before:
            return True
        maker = first > 0 and ops[first - 1].results[0] in ops[first].operands
        late = self._once(ops[first - maker : last])
        return late is not None and after + late[0].alone <= GAIN * (before + late[1].alone)

    def _once(self, ops: Sequence[Operation]) -> tuple[Taken, Taken] | None:
        module = cut_out(ops, "products", values=False)
        key = module_text(module, locations=False)
        if key not in self.known:
            self.known[key] = self._measured(module)
        return self.known[key]

    def _measured(self, module: ModuleOp) -> tuple[Taken, Taken] | None:
        """What is taken in parts, and as it is; None when that has no kernels."""
        split = copied(module)
        SplitProductsPass("always", self.description).apply(self.ctx, split)
        try:
            return self._cycles(split), self._cycles(module)
        except (DoesNotFit, NoKernel):
            return None

    def _cycles(self, module: ModuleOp) -> Taken:
        settings = Settings(description=self.description, shortfall=False)
        passes = passes_behind(SplitProductsPass.name, settings)
        return cycles_taken(self.ctx, module, passes, self.chip)
