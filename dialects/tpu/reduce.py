"""Reductions, searches and sorting along axes."""

from math import prod

from xdsl.ir import Attribute
from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    opt_operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, I64_INT, default_attr_def, ints
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.lane_view import Lanes, LaneView, Viewed, lanes_of, row_shape
from xdsl_tpu.dialects.interfaces.local_gen import Axis, GroupType
from xdsl_tpu.dialects.interfaces.movement import Moves
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeInference
from xdsl_tpu.dialects.interfaces.shape_rules import axes_of, reduced
from xdsl_tpu.dialects.tpu.kinds import ARG_MODE, NONZERO_ORDER, REDUCE_MODE
from xdsl_tpu.dialects.tpu.local import (
    FLOATS,
    AlikeEverywhere,
    EachElement,
    LocalBroadcast,
    LocalReshape,
    as_it_stands,
    splits_beside,
    stored_type,
)
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, TpuOp

_LOCAL_REDUCTIONS = frozenset(
    {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2"}
)

_INSIDE_LANES = frozenset({(4, 2), (4, 3), (4, 2, 3), (3, 2)})
"""Rank and reduced axes, where what becomes one value is in one lane."""


@irdl_op_definition
class ReduceOp(AlikeEverywhere, LaneView, ShapeInference, LocalOp):
    """One value for all indices of `axes`: their mean, sum, maximum, L2 norm ... by `mode`.

    The axes stay with size 1 with `keepdims` and vanish otherwise. Rows, which have one value each,
    can lie over any lanes, unless their values are a row for what reads them.
    """

    name = "tpu.Reduce"

    input = operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    reciprocal_mantissa_table = operand_def(RANKED_OR_NONE)
    axes = attr_def(I64_ARRAY)
    keepdims = attr_def(BOOL)
    mode = attr_def(REDUCE_MODE)
    multiplier = opt_attr_def(I64_ARRAY)
    rshift = opt_attr_def(I64_ARRAY)
    is_scalar = default_attr_def(BOOL, False)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        return (reduced(shape, axes_of(ints(self.axes), len(shape)), bool(self.keepdims)),)

    def local_support(self, kind: GroupType) -> str | None:
        rank = len(self.shape_of(self.input))
        axes, mode = axes_of(ints(self.axes), rank), self.mode.data
        if (rank, *axes) not in _INSIDE_LANES:
            return (
                f"it reduces axes {list(axes)} of rank {rank}; "
                "only 2, 3 or both of rank 4 and 2 of rank 3 are local"
            )
        if mode not in _LOCAL_REDUCTIONS:
            return f"{mode} is not local, only {', '.join(sorted(_LOCAL_REDUCTIONS))}"
        source, target = stored_type(self.input), stored_type(self.output)
        if source != target and not all(isinstance(kind, FLOATS) for kind in (source, target)):
            return f"it makes {target} of {source}"
        return None

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        rank = len(self.shape_of(self.input))
        axes = axes_of(ints(self.axes), rank)
        return splits_beside(axis, kind, min(axes), max(axes), rank)

    def can_be_seen(self) -> bool:
        if self._rows() is None:
            return False
        users = [use.operation for use in self.output.uses]
        apart = EachElement | LocalBroadcast | LocalReshape
        # Many images of few channels fill few lanes as they stand.
        images, channels = lanes_of(self.shape_of(self.input))
        moved = images > channels and all(isinstance(user, Moves) for user in users)
        return bool(self.keepdims) or moved or all(isinstance(user, apart) for user in users)

    def lanes_wanted(self) -> tuple[Lanes, ...]:
        if (rows := self._rows()) is None:
            return ()
        shape, (count, *_) = self.shape_of(self.input), rows
        first = min(axes_of(ints(self.axes), len(shape)))
        inner = prod(shape[max(first - 1, 0) : first])  # 1 where all is reduced
        return (Lanes(1, count), Lanes(count // inner, inner))

    def viewed(self, lanes: Lanes) -> Viewed | None:
        shape = self.shape_of(self.input)
        (result,) = self.result_shapes()
        rows = self._rows()
        if rows is None or not self.can_be_seen():
            return as_it_stands(self) if lanes == lanes_of(result) else None
        if lanes_of(result) == lanes_of(shape) == lanes and len(shape) > 2:
            return as_it_stands(self)
        count, length, inner = rows
        attributes: dict[str, Attribute] = {"keepdims": BOOL.convert(True)}
        rest = (None for _ in self.operands[1:])
        if inner > 1:
            if lanes.rows != count:
                return None
            attributes["axes"] = I64_ARRAY.convert((2,))
            return Viewed((((*lanes, length, inner)), *rest), (*lanes, 1, inner), attributes)
        if (seen := row_shape(shape, lanes, length)) is None:
            return None
        attributes["axes"] = I64_ARRAY.convert((len(seen) - 1,))
        return Viewed((seen, *rest), (*seen[:-1], 1), attributes)

    def _rows(self) -> tuple[int, int, int] | None:
        """How many rows there are, how many elements of each become one, and how many lie behind
        each of these; None where other than neighbouring axes are reduced, or where what becomes
        one fills lanes that rows leave empty."""
        shape = self.shape_of(self.input)
        axes = axes_of(ints(self.axes), len(shape))
        first, last = min(axes, default=0), max(axes, default=0)
        if axes != tuple(range(first, last + 1)):
            return None
        rows, length, inner = (
            prod(shape[:first]),
            prod(shape[first : last + 1]),
            prod(shape[last + 1 :]),
        )
        return None if inner > 1 and rows < length else (rows, length, inner)


@irdl_op_definition
class ArgOp(TpuOp):
    """The index of the smallest or largest element along `axis` and, if wanted, the element."""

    name = "tpu.Arg"

    input = operand_def(RANKED)
    axis = attr_def(I64_INT)
    keepdims = attr_def(BOOL)
    mode = attr_def(ARG_MODE)
    select_last_index = default_attr_def(BOOL, True)
    use_int_input = default_attr_def(BOOL, False)
    indices = result_def(RANKED)
    values = result_def(RANKED_OR_NONE)

    traits = traits_def(Pure())


@irdl_op_definition
class CumSumOp(TpuOp):
    """Running sums along `axis`."""

    name = "tpu.CumSum"

    input = operand_def(RANKED)
    dim = operand_def(RANKED_OR_NONE)
    axis = attr_def(I64_INT)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class TopKOp(TpuOp):
    """The K largest (or smallest) elements along `axis` and their indices."""

    name = "tpu.TopK"

    input = operand_def(RANKED)
    kT = opt_operand_def(RANKED)
    buffer_val = operand_def(RANKED_OR_NONE)
    buffer_idx = operand_def(RANKED_OR_NONE)
    buffer_scatter_idx = operand_def(RANKED_OR_NONE)
    buffer_seq_idx = operand_def(RANKED_OR_NONE)
    axis = attr_def(I64_INT)
    K = attr_def(I64_INT)
    largest = default_attr_def(BOOL, True)
    sorted = default_attr_def(BOOL, True)
    values_used_only = default_attr_def(BOOL, False)
    replace_topk_indices = default_attr_def(BOOL, False)
    use_hau = default_attr_def(BOOL, True)
    values = result_def(RANKED_OR_NONE)
    indices = result_def(RANKED_OR_NONE)

    traits = traits_def(Pure())


@irdl_op_definition
class SortOp(TpuOp):
    """The elements along `axis` in order, and where each was."""

    name = "tpu.Sort"

    input = operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    axis = attr_def(I64_INT)
    descending = default_attr_def(BOOL, True)
    values = result_def(RANKED_OR_NONE)
    indices = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class NonZeroOp(TpuOp):
    """Coordinates of all elements that are not 0."""

    name = "tpu.NonZero"

    input = operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
    order = attr_def(NONZERO_ORDER)
    output = result_def(RANKED)

    traits = traits_def(Pure())
