"""The pass `merge-moves`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, bf16, f16, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.support import dtype_of
from xdsl_tpu.backend.movement import Source, movement_cycles
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.absorbed import is_absorbed
from xdsl_tpu.dialects.base import is_ranked_tensor
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.index_map import Box, IndexMap, gathered
from xdsl_tpu.dialects.interfaces.movement import (
    KeepsOrder,
    Moved,
    Movement,
    keeps_order,
    movement_of,
)
from xdsl_tpu.passes.address_assign.assign import divided_parts
from xdsl_tpu.passes.address_assign.planner import ALIGNMENT_BYTES
from xdsl_tpu.passes.address_assign.views import view_of
from xdsl_tpu.passes.module_state import chip_of
from xdsl_tpu.passes.tensors import (
    element_bytes,
    element_of,
    none_of,
    required_name,
    shape_of,
    size_in_bytes,
)

MOST_BOXES = 32
"""A map in more boxes is made in two steps; its price would take too long to find."""


@dataclass(frozen=True)
class MergeMovesPass(ModulePass):
    """Make chains of movement ops one op, and parts of one value together, where that is cheaper.

        %1 = "tpu.Permute"(%0)                %3 = "tpu.Rearrange"(%0) {boxes = [...]}
        %2 = "tpu.Reshape"(%1)           ->
        %3 = "tpu.Permute"(%2)

        %1 = "tpu.Slice"(%0) {0:1 of d}       %3 = "tpu.Rearrange"(%0) {boxes = [...]}
        %2 = "tpu.Slice"(%0) {1:2 of d}  ->   %1 = "tpu.Reshape"("tpu.Slice"(%3) {0:1})
                                              %2 = "tpu.Reshape"("tpu.Slice"(%3) {1:2})

        %1 = "tpu.Permute"(%0) : 8x4xf16      %2 = "tpu.Rearrange"(%0) {boxes} : 8x4xf32
        %2 = "tpu.Cast"(%1) : 8x4xf32    ->

    What lies between is then never in memory; several parts of a value are read in one sweep, and
    the Slices are views. Only values that nothing else uses go. The price is that of the commands
    from DDR to DDR (`movement_cycles`); what layer groups do is left alone. A chain that ends
    where it began becomes a Reshape, and so does what in no group changes lanes only. `chip` is a
    name or a `.toml` description, by default `module.chip`.
    """

    name = "merge-moves"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chip = chip_of(op, self.chip)
        _, _, func = divided_parts(op)
        block = func.body.block
        for move in list(block.ops):
            movement = _moves(move) if isinstance(move, tpu.RearrangeOp) else None
            if movement is not None and keeps_order(move):
                _replaced(move, move.operands[:1], movement)
        for move in reversed(list(block.ops)):
            current: Operation | None = move
            while current is not None and current.parent_block() is block:
                current = _merged(current, chip)
        for cast in [one for one in block.ops if isinstance(one, tpu.CastOp)]:
            _cast_on_its_way(cast, chip)
        for alike in list(_siblings(block)):
            _stack(alike, func, chip)


def _moves(op: Operation) -> Movement | None:
    """What an op moves that has to be executed, or would be but for its operand's place."""
    movement = None if is_absorbed(op) else movement_of(op)
    if movement is None:
        return None
    kinds = {_dtype(op.operands[part.operand]) for part in movement.parts}
    return movement if kinds == {_dtype(op.results[0])} else None


def _dtype(value: SSAValue) -> object:
    return dtype_of(value.type.element_type) if is_ranked_tensor(value.type) else None


def _cycles(op: Operation, movement: Movement, chip: Chip) -> int:
    """Of an op alone; views cost nothing."""
    if view_of(op.results[0]) is not None:
        return 0
    return _price(movement, op.results[0], chip)


def _price(movement: Movement, like: SSAValue, chip: Chip, stored: SSAValue | None = None) -> int:
    sources = [Source(part.operand, part.map.boxes) for part in movement.parts]
    assert is_ranked_tensor(like.type)
    dtype, other = dtype_of(like.type.element_type), None
    if stored is not None and is_ranked_tensor(stored.type):
        other = dtype_of(stored.type.element_type)
    return movement_cycles(chip, sources, movement.size, dtype, movement.border, other)


def _merged(move: Operation, chip: Chip) -> Operation | None:
    """The op that takes the place of `move` and one that makes an operand of it; None without."""
    outer = None if isinstance(move, KeepsOrder) else _moves(move)
    if outer is None:
        return None
    for number, value in enumerate(move.operands):
        maker = value.owner
        inner = _moves(maker) if isinstance(maker, Operation) else None
        if inner is None or not isinstance(maker, Operation):
            continue
        if not _only_used_by(value, move) or not _is_moved(maker):
            continue
        found = _composed(move, number, outer, inner)
        if found is None:
            continue
        operands, movement = found
        before = _cycles(move, outer, chip) + _cycles(maker, inner, chip)
        if not _is_no_dearer(movement, move.results[0], before, chip):
            continue
        return _replaced(move, operands, movement)
    return None


def _only_used_by(value: SSAValue, user: Operation) -> bool:
    return all(use.operation is user for use in value.uses)


def _is_moved(maker: Operation) -> bool:
    """Whether an op, or one of which it only makes a view, has to be executed."""
    while isinstance(maker, KeepsOrder):
        value, owner = maker.operands[0], maker.operands[0].owner
        if not isinstance(owner, Operation) or not _only_used_by(value, maker):
            return False
        maker = owner
    return _moves(maker) is not None


def _is_no_dearer(movement: Movement, like: SSAValue, before: int, chip: Chip) -> bool:
    try:
        return _price(movement, like, chip) <= before
    except DoesNotFit:
        return False


def _composed(
    move: Operation, number: int, outer: Movement, inner: Movement
) -> tuple[list[SSAValue], Movement] | None:
    """Operands and map of `move` when it reads what the maker of operand `number` reads."""
    if None not in (inner.border, outer.border) and inner.border != outer.border:
        return None
    maker = move.operands[number].owner
    assert isinstance(maker, Operation)
    operands: list[SSAValue] = []
    parts: list[Moved] = []
    for part in outer.parts:
        if part.operand != number:
            parts.append(Moved(len(operands), part.map))
            operands.append(move.operands[part.operand])
            continue
        for source in inner.parts:
            moves = part.map.after(source.map)
            if moves.boxes:
                parts.append(Moved(len(operands), moves))
                operands.append(maker.operands[source.operand])
    if not parts or sum(len(part.map.boxes) for part in parts) > MOST_BOXES:
        return None
    border = outer.border if inner.border is None else inner.border
    return operands, Movement(outer.size, tuple(parts), border)


def _replaced(move: Operation, operands: Sequence[SSAValue], movement: Movement) -> Operation:
    """Put one op in the place of `move`, and take away those that are not used any more."""
    new = _built(required_name(move), operands, movement, move.results[0])
    block = move.parent_block()
    assert block is not None
    block.insert_op_before(new, move)
    old = list(move.operands)
    move.results[0].replace_all_uses_with(new.results[0])
    move.detach()
    move.erase()
    for value in old:
        _erase_unused(value)
    return new


def _built(
    name: str, operands: Sequence[SSAValue], movement: Movement, like: SSAValue
) -> Operation:
    whole = IndexMap.identity(movement.size)
    in_order = [part.map for part in movement.parts] == [whole] and movement.border is None
    if in_order and prod(shape_of(operands[0])) == movement.size:
        shape = list(shape_of(like))
        return tpu.ReshapeOp.make(name, operands, result_types=(like.type,), shape=shape)
    boxes = tpu.RearrangeOp.listed(movement)
    kinds, border = (like.type,), movement.border
    return tpu.RearrangeOp.make(name, operands, result_types=kinds, boxes=boxes, border=border)


def _cast_on_its_way(cast: tpu.CastOp, chip: Chip) -> None:
    """Let what moves floats store them in f32, if that is cheaper than a cast behind it."""
    value, kinds = cast.input, (element_of(cast.input), element_of(cast.output))
    move = value.owner
    movement = _moves(move) if isinstance(move, Operation) else None
    if kinds not in _EXACT or movement is None or movement.border is not None:
        return
    assert isinstance(move, Operation)
    if isinstance(move, KeepsOrder) or not _only_used_by(value, cast):
        return
    taken = size_in_bytes(value) / chip.load_bytes_per_cycle
    given = size_in_bytes(cast.output) / chip.store_bytes_per_cycle
    before = _price(movement, value, chip) + taken + given
    try:
        after = _price(movement, value, chip, cast.output)
    except DoesNotFit:
        return
    if after < before:
        operands = [move.operands[part.operand] for part in movement.parts]
        parts = tuple(Moved(n, part.map) for n, part in enumerate(movement.parts))
        boxes = tpu.RearrangeOp.listed(Movement(movement.size, parts))
        new = tpu.RearrangeOp.make(
            required_name(cast), operands, result_types=(cast.output.type,), boxes=boxes
        )
        block = cast.parent_block()
        assert block is not None
        block.insert_op_before(new, cast)
        cast.output.replace_all_uses_with(new.output)
        cast.detach()
        cast.erase()
        _erase_unused(value)


_EXACT = ((f16, f32), (bf16, f32))
"""Number formats between which nothing is lost."""


def _erase_unused(value: SSAValue) -> None:
    maker = value.owner
    if not isinstance(maker, Operation) or movement_of(maker) is None:
        return
    if any(result.uses for result in maker.results):
        return
    operands = list(maker.operands)
    maker.detach()
    maker.erase()
    for operand in operands:
        _erase_unused(operand)


def _siblings(block: Block) -> Iterator[list[Operation]]:
    """Movements of one operand to results alike, all of the same value, two or more."""
    alike: dict[tuple[SSAValue, object], list[Operation]] = {}
    for op in block.ops:
        movement = _moves(op)
        if movement is None or view_of(op.results[0]) is not None or movement.border is not None:
            continue
        if [part.operand for part in movement.parts] == [0]:
            alike.setdefault((op.operands[0], op.results[0].type), []).append(op)
    yield from (ops for ops in alike.values() if len(ops) > 1)


def _stack(ops: Sequence[Operation], func: FuncOp, chip: Chip) -> None:
    """Make the results of all ops one behind the other, if that is cheaper."""
    value, shape = ops[0].results[0], list(shape_of(ops[0].results[0]))
    movements = [movement for op in ops if (movement := _moves(op)) is not None]
    stacked = _one_behind_the_other(movements)
    before = sum(_price(movement, value, chip) for movement in movements)
    size = movements[0].size * element_bytes(value)
    many = len(stacked.parts[0].map.boxes) > MOST_BOXES
    if size % ALIGNMENT_BYTES or many or not _is_no_dearer(stacked, value, before - 1, chip):
        return
    together = tpu.RearrangeOp.make(
        f"{required_name(ops[0])}_stacked",
        ops[0].operands[:1],
        result_types=(_of_shape(value, (len(ops), *shape)),),
        boxes=tpu.RearrangeOp.listed(stacked),
    )
    block = func.body.block
    block.insert_op_before(together, ops[0])
    none = none_of(func)
    for number, op in enumerate(ops):
        part = tpu.SliceOp.make(
            f"{required_name(op)}_part",
            (together.output, *[none.output] * 4),
            result_types=(_of_shape(value, (1, *shape)),),
            offset=[number, *[0] * len(shape)],
            ends=[number + 1, *shape],
            steps=[1] * (1 + len(shape)),
        )
        name, kind = required_name(op), op.results[0].type
        view = tpu.ReshapeOp.make(name, (part.output,), result_types=(kind,), shape=shape)
        block.insert_ops_before([part, view], op)
        op.results[0].replace_all_uses_with(view.output)
        op.detach()
        op.erase()


def _one_behind_the_other(movements: Sequence[Movement]) -> Movement:
    """What movements of one operand make, each of the same size."""
    size = movements[0].size
    boxes = [
        Box(number * size + box.to, box.at, box.digits)
        for number, movement in enumerate(movements)
        for box in movement.parts[0].map.boxes
    ]
    joined = IndexMap(tuple(gathered(boxes)))
    return Movement(size * len(movements), (Moved(0, joined),))


def _of_shape(value: SSAValue, shape: Sequence[int]) -> TensorType[Attribute]:
    assert is_ranked_tensor(value.type)
    return TensorType(value.type.element_type, shape)
