"""Last ops of a network in bands of rows: which may be cut, and what that makes of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap
from xdsl_tpu.dialects.interfaces.movement import Moved, Movement, single_map
from xdsl_tpu.dialects.names import LAYER, layer_of, name_loc
from xdsl_tpu.dialects.traits import InOutSameShape, SupportElementwise
from xdsl_tpu.passes.bands import (
    ROWS,
    Windows,
    band,
    bands_of,
    make_their_rows,
    may_be_cut,
    with_rows,
)
from xdsl_tpu.passes.graph import none_before, tensor_like
from xdsl_tpu.passes.layer_group.base_groups import why_not_local
from xdsl_tpu.passes.layer_group.prices import Part
from xdsl_tpu.passes.layer_group.window import WindowCosts
from xdsl_tpu.passes.tensors import required_name, shape_of

LONGEST_LINE = 65535
"""Elements that a command can have side by side."""


class Way(NamedTuple):
    """A movement of rows of an image to rows of a result: `above` and `below` are its elements
    around them, `digits` go over the others."""

    above: int
    below: int
    digits: tuple[Digit, ...]


@dataclass(frozen=True)
class Tail:
    """The last ops of a network: a chain whose result has rows, what moves that, and what works
    on it element by element."""

    chain: Sequence[Operation]
    moves: Sequence[Operation]
    behind: Sequence[Operation]
    way: Way | None

    @property
    def ops(self) -> list[Operation]:
        """All, in order."""
        return [*self.chain, *self.moves, *self.behind]

    @property
    def rows(self) -> int:
        """Of the result of the chain."""
        return shape_of(self.chain[-1].results[0])[ROWS]


def tail_of(value: SSAValue) -> Tail | None:
    """The ops that make a result and nothing else; None where these have no rows to cut."""
    behind, moves = list[Operation](), list[Operation]()
    op = _maker(value)
    while op is not None and _is_plain(op):
        behind.insert(0, op)
        op = _maker(op.operands[0])
    while op is not None and single_map(op) is not None:
        moves.insert(0, op)
        op = _maker(op.operands[0])
    chain = list[Operation]()
    while op is not None and may_be_cut(op):
        chain.insert(0, op)
        if isinstance(op, Windows):
            break
        op = _maker(op.operands[0])
    if not chain or not isinstance(chain[0], Windows) or shape_of(chain[-1].results[0])[0] > 1:
        return None
    way = _way(shape_of(chain[-1].results[0]), moves) if moves else None
    if moves and way is None:
        return None
    above = shape_of(chain[-1].results[0])[1] if way is None else way.above
    return Tail(chain, moves, behind, way) if above == 1 else None


def _maker(value: SSAValue) -> Operation | None:
    """The op that makes a value for one reader alone."""
    owner = value.owner
    if not isinstance(owner, Operation) or len(owner.results) != 1 or not value.has_one_use():
        return None
    return owner


def _is_plain(op: Operation) -> bool:
    """Whether an op works element by element, whatever the shape."""
    plain = op.has_trait(InOutSameShape) and op.has_trait(SupportElementwise)
    local = why_not_local(op) is None
    return plain and local and all(is_none(one) for one in op.operands[1:])


def _way(shape: Sequence[int], moves: Sequence[Operation]) -> Way | None:
    """Where rows of an image go; None where those of a band do not lie together in the result."""
    found = IndexMap.identity(math.prod(shape))
    for op in moves:
        one = single_map(op)
        assert one is not None
        found = one.after(found)
    _, channels, rows, columns = shape
    if len(found.boxes) != 1 or found.boxes[0].size != channels * rows * columns:
        return None
    digits = found.boxes[0].digits
    if columns * channels > LONGEST_LINE:
        return None
    row = next((one for one in digits if (one.extent, one.at) == (rows, columns)), None)
    if row is None:
        return None
    others = tuple(digit for digit in digits if digit is not row)
    around = rows * row.to, rows * columns
    in_part = all(
        digit.at > 0
        and (digit.to * digit.extent <= row.to or digit.to % around[0] == 0)
        and (digit.at * digit.extent <= columns or digit.at % around[1] == 0)
        for digit in others
    )
    return Way(channels * columns // row.to, row.to, others) if in_part else None


class CutTail:
    """A tail cut into bands, beside the tail, which nothing else is changed for.

    Bands begin at each of `ends` and reach to the next.
    """

    def __init__(self, tail: Tail, ends: Sequence[int]) -> None:
        self.tail, self.read = tail, tail.ops[0].operands[0]
        self.ops, self.parts = list[Operation](), list[SSAValue]()
        self._axis = ROWS if tail.way is None else 1
        self.bands = bands_of(tail.chain, ends)
        if self.bands is None:
            return
        for number, (start, end) in enumerate(pairwise(ends)):
            self._add(number, start, end - start)
        self._join()

    @property
    def is_right(self) -> bool:
        """Whether bands can be made at all."""
        return self.bands is not None and make_their_rows(self.ops)

    def _add(self, number: int, start: int, rows: int) -> None:
        """The ops of one band."""
        assert self.bands is not None
        value = self._rows(number)
        for op in band(self.tail.chain, self.bands, number, value):
            self.ops.append(op)
        value = self.ops[-1].results[0]
        if self.tail.way is not None:
            value = self._moved(value, self.tail.way, start, rows)
        for op in self.tail.behind:
            part = op.clone()
            part.operands[0] = value
            kind = tensor_like(op.results[0], shape_of(value))
            value = Rewriter.replace_value_with_new_type(part.results[0], kind)
            self._named(part, op, f"rows_{start}")
        self.parts.append(value)

    def _named(self, made: Operation, op: Operation, label: str) -> None:
        made.location = name_loc(f"{required_name(op)}_{label}")
        made.attributes[LAYER] = StringAttr(layer_of(op))
        self.ops.append(made)

    def _rows(self, number: int) -> SSAValue:
        """The rows that a band reads."""
        assert self.bands is not None
        first = self.tail.chain[0]
        value, (start, rows) = self.read, self.bands.read[number]
        shape = shape_of(value)
        ends = with_rows(shape, start + rows)
        cut = tpu.SliceOp.make(
            "rows",
            (value, *[none_before(first)] * 4),
            result_types=(tensor_like(value, with_rows(shape, rows)),),
            offset=[start if axis == ROWS else 0 for axis in range(len(shape))],
            ends=list(ends),
            steps=[1] * len(shape),
        )
        self._named(cut, first, f"read_{start}")
        return cut.output

    def _moved(self, value: SSAValue, way: Way, start: int, rows: int) -> SSAValue:
        """A band with its rows over the lanes: columns become images, then channels and rows
        change places."""
        _, channels, _, columns = shape_of(value)
        whole = shape_of(self.tail.chain[-1].results[0])
        area, result = whole[ROWS] * columns, whole[ROWS] * way.below
        turning = IndexMap.permuted((channels, rows, columns), (2, 0, 1))
        digits = [Digit(rows, way.below, 1)]
        for extent, to, at in ((d.extent, d.to, d.at) for d in way.digits):
            far = to // result * rows * way.below if to >= way.below else to
            near = at // area * rows if at >= area else at * channels * rows
            digits.append(Digit(extent, far, near))
        rest = IndexMap((Box(0, 0, tuple(digits)).simplified(),))
        op = self.tail.moves[-1]
        for label, shape, moves in (
            (f"turned_{start}", (columns, channels, 1, rows), turning),
            (f"rows_{start}", (way.above, rows, 1, way.below), rest),
        ):
            movement = Movement(math.prod(shape), (Moved(0, moves),))
            made = tpu.RearrangeOp.make(
                label,
                (value,),
                result_types=(tensor_like(value, shape),),
                boxes=tpu.RearrangeOp.listed(movement),
                in_lanes=True,
            )
            self._named(made, op, label)
            value = made.output
        return value

    def _join(self) -> None:
        """The parts as one value, in the shape of the result."""
        last = self.tail.ops[-1]
        result, name = last.results[0], required_name(last)
        shape = list(shape_of(self.parts[0]))
        shape[self._axis] = self.tail.rows
        seen = tuple(shape) != shape_of(result)
        joined = tpu.JoinOp.make(
            f"{name}_joined" if seen else name,
            self.parts,
            result_types=(tensor_like(result, shape),),
            axis=self._axis,
        )
        self.ops.append(joined)
        self.result = joined.output
        if seen:
            view = tpu.ReshapeOp.make(
                name, (joined.output,), result_types=(result.type,), shape=shape_of(result)
            )
            self.ops.append(view)
            self.result = view.output

    @property
    def computing(self) -> list[Operation]:
        """The ops that have commands."""
        return [op for op in self.ops if not isinstance(op, tpu.JoinOp | tpu.ReshapeOp)]

    def hidden(self, costs: WindowCosts) -> float:
        """Cycles of the stores of bands while the next ones are computed."""
        whole = Part(costs.chip.lanes)
        stores = [costs.prices.store(part, whole) for part in self.parts]
        computed = costs.computed(self.computing) / self.tail.rows
        done = stored = 0.0
        for part, store in zip(self.parts, stores, strict=True):
            done += computed * shape_of(part)[self._axis]
            stored = max(stored, done) + store
        return done + sum(stores) - stored

    def insert(self) -> None:
        """Put the bands behind the tail, whose result nothing reads then."""
        first, last = self.tail.ops[0], self.tail.ops[-1]
        last.results[0].replace_all_uses_with(self.result)
        cast(Block, last.parent).insert_ops_after(self.ops, last)
        first.operands[0] = none_before(first)

    def erase(self) -> None:
        """As if there had been no bands."""
        self.result.replace_all_uses_with(self.tail.ops[-1].results[0])
        self.tail.ops[0].operands[0] = self.read
        _erase(self.ops)

    def erase_tail(self) -> None:
        """Only bands are left."""
        _erase(self.tail.ops)


def _erase(ops: Sequence[Operation]) -> None:
    for op in reversed(ops):
        op.detach()
        op.erase()
