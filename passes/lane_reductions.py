"""Reductions over what lies over the lanes, within local memory."""

from collections.abc import Sequence
from math import prod

from xdsl.ir import Block, Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, ints
from xdsl_tpu.dialects.interfaces.index_map import IndexMap
from xdsl_tpu.dialects.interfaces.movement import KeepsOrder, Moved, Movement
from xdsl_tpu.dialects.interfaces.shape_rules import axes_of
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.graph import derived_name, rebuilt, tensor_like
from xdsl_tpu.passes.layer_group.base_groups import why_not_local
from xdsl_tpu.passes.tensors import element_bytes, required_name, shape_of


def reduce_in_lanes(op: Operation, block: Block, chip: Chip) -> None:
    """Let a reduction over all rows of each image have a local form, between ops that have one.

        Reduce(1x196x56) {axes = [1]} : 1x1x56

            Rearrange(1x196x56) : 1x56x196
        ->  Reduce(1x56x196) {axes = [2]} : 1x56x1
            Rearrange(1x56x1) : 1x1x56

    Rows lie over the lanes, and nothing adds up lanes; on the way columns do. One column is one
    number, which stays where it is. Several rows may be in a lane: views of what is reduced do not
    matter, nor do those of the result, which stays a view where no single movement gets it into the
    lanes in which it is read. What local memory does not hold beside what it is turned to stays in
    DDR (`_in_two_steps`).
    """
    if not isinstance(op, tpu.ReduceOp) or why_not_local(op) is None:
        return
    value, result = _viewed(op.input), _seen_as(op.output)
    if not _is_between(value, result):
        return
    sizes = _images(op)
    if sizes is None:
        return
    n, rows, columns = sizes
    if _lane_bytes(op, sizes, chip) > chip.local_bytes:
        _in_two_steps(op, sizes, block, chip)
        return
    turned = IndexMap.permuted(sizes, (0, 2, 1))
    before = _moved(derived_name(op, "_turned"), value, (n, columns, rows), turned)
    kept = shape_of(result) == (n, columns, 1)
    column = rebuilt(
        op,
        operands=[before.output, *op.operands[1:]],
        result_types=[tensor_like(op.output, (n, columns, 1))],
        location=name_loc(required_name(result)) if kept else name_loc(derived_name(op, "_column")),
    )
    column.axes, column.keepdims = I64_ARRAY.convert((2,)), BOOL.convert(True)
    new: list[Operation] = [before, column]
    if not kept:
        whole = IndexMap.identity(n * columns)
        back = _moved(required_name(result), column.output, shape_of(result), whole)
        if why_not_local(back) is not None:
            back.erase()
            back = _reshaped(required_name(result), column.output, shape_of(result))
        new.append(back)
    if any(why_not_local(one) is not None for one in new[:2]):
        for one in reversed(new):
            one.erase()
        return
    block.insert_ops_before(new, op)
    result.replace_all_uses_with(new[-1].results[0])
    _erase_views(result)
    given = op.input
    op.detach()
    op.erase()
    _erase_views(given)


def _lane_bytes(op: tpu.ReduceOp, sizes: Sequence[int], chip: Chip) -> int:
    """Bytes per lane of what is reduced, with rows over the lanes and with columns over them."""
    n, rows, columns = sizes
    row, column = -(-rows // chip.lanes), -(-columns // chip.lanes)
    return n * element_bytes(op.input) * (row * columns + column * rows)


def _in_two_steps(op: tpu.ReduceOp, sizes: Sequence[int], block: Block, chip: Chip) -> None:
    """Reduce as many rows in each lane, then one of each lane; nothing where rows are not even.

        Reduce(1x9216x768) {axes = [1]}  ->  Reduce(64x144x768) {axes = [1]} : 64x1x768
                                             Reduce(1x64x768) {axes = [1]} : 1x1x768

    From DDR a lane has rows that are one behind the other, and adds them up as they come. A product
    with a row of ones would take numbers of 32 bits, and turning them all twice the transfers.
    """
    n, rows, columns = sizes
    if rows % chip.lanes:
        return
    parts = (n * chip.lanes, rows // chip.lanes, columns)
    given = _reshaped(derived_name(op, "_parts"), op.input, parts)
    name = derived_name(op, "_of_parts")
    first = _along_rows(op, given.output, (parts[0], 1, columns), name)
    lanes = _reshaped(derived_name(op, "_lanes"), first.output, (n, chip.lanes, columns))
    kept = shape_of(op.output) == (n, 1, columns)
    last = required_name(op) if kept else derived_name(op, "_rows")
    new: list[Operation] = [
        given,
        first,
        lanes,
        _along_rows(op, lanes.output, (n, 1, columns), last),
    ]
    if not kept:
        new.append(_reshaped(required_name(op), new[-1].results[0], shape_of(op.output)))
    block.insert_ops_before(new, op)
    op.output.replace_all_uses_with(new[-1].results[0])
    op.detach()
    op.erase()


def _along_rows(op: tpu.ReduceOp, value: SSAValue, shape: Sequence[int], name: str) -> tpu.ReduceOp:
    """The same reduction of the rows of each image of `value`."""
    kind = tensor_like(op.output, shape)
    made = rebuilt(
        op, operands=[value, *op.operands[1:]], result_types=[kind], location=name_loc(name)
    )
    made.axes, made.keepdims = I64_ARRAY.convert((1,)), BOOL.convert(True)
    return made


def _viewed(value: SSAValue) -> SSAValue:
    """What a value is only another shape of."""
    while isinstance(value.owner, KeepsOrder):
        value = value.owner.operands[0]
    return value


def _seen_as(value: SSAValue) -> SSAValue:
    """The last shape in which a value is seen, when it is read in no other."""
    while len(uses := [*value.uses]) == 1 and isinstance(uses[0].operation, KeepsOrder):
        value = uses[0].operation.results[0]
    return value


def _is_between(value: SSAValue, result: SSAValue) -> bool:
    """Whether an op with a local form makes a value, and one reads what becomes of it."""
    maker, users = value.owner, [use.operation for use in result.uses]
    if not isinstance(maker, Operation) or why_not_local(maker) is not None:
        return False
    return any(why_not_local(user) is None for user in users)


def _erase_views(value: SSAValue) -> None:
    """Take away changes of shape that nothing reads any more."""
    while isinstance(value.owner, KeepsOrder) and not value.uses:
        view = value.owner
        value = view.operands[0]
        view.detach()
        view.erase()


def _images(op: tpu.ReduceOp) -> tuple[int, int, int] | None:
    """How many images there are, of how many rows that become one, of how many columns; None where
    anything else is reduced."""
    shape = shape_of(op.input)
    axes = axes_of(ints(op.axes), len(shape))
    if len(shape) not in (3, 4) or axes != tuple(range(1, len(shape) - 1)):
        return None
    return shape[0], prod(shape[1:-1]), shape[-1]


def _reshaped(name: str, value: SSAValue, shape: Sequence[int]) -> tpu.ReshapeOp:
    kind = tensor_like(value, shape)
    return tpu.ReshapeOp.make(name, (value,), result_types=(kind,), shape=shape)


def _moved(name: str, value: SSAValue, shape: Sequence[int], moves: IndexMap) -> tpu.RearrangeOp:
    movement = Movement(prod(shape), (Moved(0, moves),))
    return tpu.RearrangeOp.make(
        name,
        (value,),
        result_types=(tensor_like(value, shape),),
        boxes=tpu.RearrangeOp.listed(movement),
        in_lanes=True,
    )
