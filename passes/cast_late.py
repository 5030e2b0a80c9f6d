"""The pass `cast-late`."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.index_map import IndexMap
from xdsl_tpu.dialects.interfaces.lane_moves import LaneStep, rows_of
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.graph import derived_name, none_before, rebuilt, tensor_like
from xdsl_tpu.passes.lane_prices import rearranged
from xdsl_tpu.passes.module_state import State, chip_of, cores_of, require_state
from xdsl_tpu.passes.processor_tpu_optimize.permutes import applied, permute, reshape
from xdsl_tpu.passes.tensors import element_bytes, functions, shape_of

Move = tpu.PermuteOp | tpu.ReshapeOp | tpu.SqueezeOp | tpu.UnsqueezeOp

PIXEL = 4
"""Elements of a pixel that are put apart within a lane, at most. As measured with convolutions of
112x112 and 224x224 pixels behind it, networks of 2 and 3 take 7 to 13 % less by it, those of 8 to
32 up to 37 % more."""


@dataclass(frozen=True)
class CastLatePass(ModulePass):
    """Cast what the network is given behind what moves it, where rows stay rows.

        %1 = "tpu.Cast"(%0) : 1x8x3x64x64xf16          %1 = "tpu.Permute"(%0) : 1x3x8x64x64xf32
        %2 = "tpu.Permute"(%1) : 1x3x8x64x64xf16   ->  %2 = "tpu.Cast"(%1) : 1x3x8x64x64xf16

    So for Reshape, Squeeze and Unsqueeze, and for Slices of whole rows that together have no more
    than there is, as frames of a video: each has a Cast of its own. Rows are moved where they are
    loaded, and what is loaded is cast on the chip. In front of the move the Cast would load and
    store all there is.

    Where the elements of pixels become planes, they are put apart within the lanes that have the
    rows of pixels, which then are moved as a whole:

        %1 = "tpu.Cast"(%0) : 1x224x224x3xf16
        %2 = "tpu.Permute"(%1) {order = [0, 3, 1, 2]} : 1x3x224x224xf16
      ->
        %1 = "tpu.Cast"(%0) : 1x224x672xf16
        %a = "tpu.Rearrange"(%1) {in_lanes} : 1x224x672xf16
        %b = "tpu.Reshape"(%a) : 1x224x3x224xf16
        %2 = "tpu.Permute"(%b) {order = [0, 2, 1, 3]} : 1x3x224x224xf16

    So where local memory has room for them: a Rearrange is done as a whole. For several cores,
    which share rows, nothing is changed. `chip` is a name or a `.toml` description, by default
    `module.chip`.
    """

    name = "cast-late"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_LOWERED, self.name)
        if cores_of(op) > 1:
            return
        chip = chip_of(op, self.chip)
        for func in functions(op):
            for cast in list(_casts(func.body.block)):
                _move(cast, func.body.block, chip)


def _casts(block: Block) -> Iterator[tpu.CastOp]:
    """What makes what the network is given narrower."""
    for op in block.ops:
        if isinstance(op, tpu.CastOp) and isinstance(op.input.owner, top.InputOp):
            yield from (op,) if element_bytes(op.output) < element_bytes(op.input) else ()


def _move(cast: tpu.CastOp, block: Block, chip: Chip) -> None:
    """Let a Cast change places with all behind it that moves whole rows, and with what moves the
    elements of pixels in part."""
    moves = _slices(cast) or _only_move(cast)
    for number, move in enumerate(moves):
        if isinstance(move, tpu.PermuteOp) and ints(move.order)[-1] != len(move.order) - 1:
            _put_apart(cast, move, block, chip)
            return
        name = derived_name(cast.input, f"_moved{number}" if len(moves) > 1 else "_moved")
        _move(_behind(move, cast, name, block), block, chip)
    if moves:
        _erase(cast)


def _only_move(cast: tpu.CastOp) -> list[Move]:
    """What alone reads what a Cast makes, if it moves it."""
    use = cast.output.get_unique_use()
    move = None if use is None or use.index else use.operation
    return [move] if isinstance(move, Move) else []


def _slices(cast: tpu.CastOp) -> list[tpu.SliceOp]:
    """The Slices of whole rows that alone read what a Cast makes, if together they have no more
    than that."""
    found: list[tpu.SliceOp] = []
    for use in cast.output.uses:
        part = use.operation
        if not isinstance(part, tpu.SliceOp) or use.index or not _has_whole_rows(part):
            return []
        found.append(part)
    whole = math.prod(shape_of(cast.output))
    fits = sum(math.prod(shape_of(part.output)) for part in found) <= whole
    return sorted(found, key=lambda part: ints(part.offset)) if fits else []


def _has_whole_rows(part: tpu.SliceOp) -> bool:
    static = all(map(is_none, (part.offsetT, part.endsT, part.stepsT)))
    rows = shape_of(part.input)[-1:] == shape_of(part.output)[-1:]
    return static and rows and all(step > 0 for step in ints(part.steps))


def _behind(move: Move | tpu.SliceOp, cast: tpu.CastOp, name: str, block: Block) -> tpu.CastOp:
    """A Cast of what `move` makes of the input of `cast`, called `name`, in the place of both."""
    kind = tensor_like(cast.input, shape_of(move.results[0]))
    operands = (cast.input, *move.operands[1:])
    moved = rebuilt(move, operands=operands, result_types=[kind], location=name_loc(name))
    late = rebuilt(
        cast, operands=moved.results, result_types=[move.results[0].type], location=move.location
    )
    _replace(move, [moved, late], late.output, block)
    return late


def _put_apart(cast: tpu.CastOp, move: tpu.PermuteOp, block: Block, chip: Chip) -> None:
    """Let elements of pixels change their rows in their lanes, if these have room, and planes be
    put together behind that."""
    shape, order = shape_of(cast.input), ints(move.order)
    row = order[-1]
    rows, pixel = math.prod(shape[:row]), math.prod(shape[row + 1 :])
    width = element_bytes(cast.input) + 2 * element_bytes(cast.output)
    room = -(-rows // chip.lanes) * shape[row] * pixel * width
    if rows == 1 or pixel > PIXEL or room > chip.local_bytes:
        return
    inner = (*range(row), *range(row + 1, len(shape)), row)
    outer = tuple(inner.index(axis) for axis in order)
    none, lines = none_before(move), (1, rows, shape[row] * pixel)
    name = derived_name(cast.input, "")
    seen = reshape(f"{name}_lines", cast.input, lines)
    kind = tensor_like(cast.output, lines)
    late = rebuilt(cast, operands=(seen.output,), result_types=[kind])
    step = LaneStep(IndexMap.permuted((rows, shape[row], pixel), (0, 2, 1)), rows_of(lines))
    apart = rearranged(f"{name}_apart", late.output, step, kind)
    planes = reshape(f"{name}_planes", apart.output, applied(inner, shape))
    moved = permute(move.location, planes.output, outer, none)
    _replace(move, [seen, late, apart, planes, moved], moved.output, block)
    _erase(cast)


def _replace(old: Operation, new: list[Operation], result: SSAValue, block: Block) -> None:
    block.insert_ops_before(new, old)
    old.results[0].replace_all_uses_with(result)
    _erase(old)


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()
