"""Which number format each op of a function is lowered to."""

from collections.abc import Container, Mapping, Set
from functools import partial

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.integers import is_integer_tensor
from xdsl_tpu.dialects.names import name_of, names_of
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.calibration.ranges import range_of
from xdsl_tpu.passes.graph import module_of
from xdsl_tpu.passes.lowering.between_floats import between_floats
from xdsl_tpu.passes.lowering.context import F16_DEPTH, F16_REACH, in_f16
from xdsl_tpu.passes.lowering.ends import Ends
from xdsl_tpu.passes.lowering.exact import differences_of_sums, exact_ops
from xdsl_tpu.passes.lowering.fine_parts import NEVER, TOO_FINE, fine_ops
from xdsl_tpu.passes.lowering.float_moves import float_moves
from xdsl_tpu.passes.lowering.int8.faster_in_floats import faster_in_floats, is_floating
from xdsl_tpu.passes.lowering.int8.table import INT8_LOWERINGS, has_ranges
from xdsl_tpu.passes.lowering.masked import is_masked
from xdsl_tpu.passes.lowering.notes import without_effect
from xdsl_tpu.passes.lowering.sampled_places import sampled_places
from xdsl_tpu.passes.lowering.score_sums import coarse_scores, score_sums
from xdsl_tpu.passes.lowering.table import STAY
from xdsl_tpu.passes.lowering.ties import compared_selections
from xdsl_tpu.passes.tensors import is_weight, required_name

FALLBACK = "F16"
"""What ops without an 8-bit form are computed in."""

TOO_DIFFERENT = 64
"""Ratio of thresholds above which 8 bits cannot hold both operands of a sum."""

PRODUCTS = (top.ConvOp, top.DeconvOp, top.MatMulOp)
"""Ops that take far longer in F32 than in 16 bits."""


def op_modes(
    func: FuncOp,
    mode: str,
    table: Mapping[str, str],
    weights: Weights | None,
    wide: Container[Operation] = (),
    attention: Set[Operation] = frozenset(),
) -> dict[Operation, str]:
    """The mode of every top op that is lowered.

    The quantize table has the first word; when it has ops in wider formats, what only moves numbers
    between such ops does so in these, too (`float_moves`). Where the mode is INT8, sums and
    differences of two tensors whose thresholds differ by more than 64 run in F16: one would be lost
    in the other's steps. So do the sums behind a Concat that puts in a weight far smaller than the
    rest, as vision transformers do with their class token: each row is normalised by itself, and
    what is read in the end is that one; and so does whatever makes tensors with parts far smaller
    than the rest (`fine_parts`), sums that only a Softmax reads (`score_sums`), what is
    compared with what it was chosen from (`compared_selections`), and places that an image is
    sampled at (`sampled_places`). Arithmetic on positions that ends
    in an angle or an integer, and differences of running sums, run in F32 in every mode (`exact`).
    `module.high_precision` keeps means and Softmax in F32. What F16 is too narrow for because of
    its constants (`wide`, from `reach`) runs in F32 instead. Attentions that are faster in F16
    (`attention`, from `attention_parts` and `score_products`) run in it.
    """
    precise = _high_precision(func)
    modes: dict[Operation, str] = {}
    table = with_derived(table, func)
    fine = set[Operation]()
    if mode == "INT8":
        fine = _fine_sums(func, weights) | fine_ops(func) | compared_selections(func)
        fine |= score_sums(func) | coarse_scores(func) | sampled_places(func)
    exact, ends = exact_ops(func) | differences_of_sums(func), Ends()
    for op in func.body.block.ops:
        if op.dialect_name() != top.Top.name or isinstance(op, STAY):
            continue
        said = _said(op, table)
        if said is None and op in exact:
            said = "F32"
        if said is None and mode == "INT8" and any(map(is_integer_tensor, op.results)):
            said = FALLBACK
        if said is None and precise and isinstance(op, top.AvgPoolOp | top.SoftmaxOp):
            said = "F32"
        if said is None and mode == "INT8" and (op in fine or _loses_an_operand(op, weights)):
            said = float_mode(op, ends)
        if said is None and mode == "INT8" and op in attention:
            said = float_mode(op, ends)
        if said in (None, FALLBACK) and op in wide and _said(op, table) is None:
            said = _wide_mode(op, said or mode)
        modes[op] = said or mode
    if set(table.values()) - {mode}:
        said = {op for op in modes if _said(op, table) is not None}
        _widen_moves(func, mode, modes, said, ends)
    return modes


def chosen_floats(
    func: FuncOp, modes: Mapping[Operation, str], table: Mapping[str, str], chip: Chip
) -> set[Operation]:
    """The ops in 8 bits of a network in INT8 that it is done earlier with in F16 on a chip
    (`faster_in_floats`, `between_floats`), though 8 bits would be enough for them.
    """
    now, ends = dict(modes), Ends()
    in_float = partial(_in_float, modes=now)
    stays = partial(_stays, table=with_derived(table, func), ends=ends)
    floating = partial(is_floating, in_float=in_float, chip=chip)
    faster = faster_in_floats(func, now, chip, floating, stays)
    now |= dict.fromkeys(faster, FALLBACK)
    return faster | between_floats(func, now, floating, stays)


def _stays(op: Operation, table: Mapping[str, str], ends: Ends) -> bool:
    """Whether an op cannot be in F16 instead of 8 bits."""
    return _said(op, table) is not None or float_mode(op, ends) != FALLBACK


def _widen_moves(
    func: FuncOp, mode: str, modes: dict[Operation, str], said: Set[Operation], ends: Ends
) -> None:
    """What only moves numbers between ops in wider formats does so in these, too."""
    movable = set(modes) - said
    if mode == "INT8":
        movable &= float_moves(func, modes, lambda op: _in_float(op, modes))
        modes |= {op: float_mode(op, ends) for op in movable}
    narrow = FALLBACK if mode == "INT8" else mode
    if narrow != "F32":
        wide = float_moves(func, modes, lambda op: modes.get(op) == "F32", narrow)
        modes |= dict.fromkeys(movable & wide, "F32")


def _wide_mode(op: Operation, mode: str) -> str:
    """F32 in place of F16; what runs in 8 bits has a scale of its own and needs nothing."""
    if mode == FALLBACK or (mode == "INT8" and _in_float(op, {op: mode})):
        return "F32"
    return mode


def _in_float(op: Operation, modes: Mapping[Operation, str]) -> bool:
    """Whether an op gets and gives floats: no result of a weight, which is of any type."""
    if isinstance(op, top.WeightOp):
        return False
    if modes.get(op) != "INT8":
        return True
    return type(op) not in INT8_LOWERINGS or not has_ranges(op)


def float_mode(op: Operation, ends: Ends | None = None) -> str:
    """What an op without an 8-bit form is computed in, given the ranges of its tensors.

    F16, unless one of them reaches beyond it by more than a mask, or is too small for it as a
    whole: then F32, and BF16 for products, but for those of two computed tensors that F16 holds:
    they give f32 without taking longer (`casts.py`). `ends` are those of the op's function, where
    many ops are asked about.
    """
    known = [(value, range_of(value)) for value in (*op.operands, *op.results)]
    far = [value for value, one in known if one is not None and one.threshold > F16_REACH]
    small = any(one is not None and 0 < one.threshold < F16_DEPTH for _, one in known)
    if not small and all(is_masked(value, F16_REACH, ends or Ends()) for value in far):
        return FALLBACK
    return "BF16" if isinstance(op, PRODUCTS) and not _gives_f32(op) else "F32"


def _gives_f32(op: Operation) -> bool:
    """Whether an op is a product of computed tensors that F16 holds."""
    if not isinstance(op, top.MatMulOp) or not is_none(op.bias):
        return False
    known = [range_of(value) for value in (op.input, op.right) if not is_weight(value)]
    return len(known) == 2 and all(one is not None and in_f16(one.threshold) for one in known)


def unknown_names(table: Mapping[str, str], module: ModuleOp, source: str) -> list[str]:
    """A note where lines of a quantize table name nothing of the module, and count for nothing.

    Such is a layer that has become part of the next one, as a convolution in front of its ReLU: the
    op has the name of what it gives in the end.

    Raises:
        TpuError: no line names an op of the module; the table is for another one.
    """
    known = {name for op in module.walk() for name in names_of(op) if name is not None}
    lost = [
        name for name in table if name not in known and not _derived({name: table[name]}, known)
    ]
    if table and len(lost) == len(table):
        raise TpuError(
            f"quantize table {source}: none of its {len(table)} ops is in the model "
            f"(the first is '{lost[0]}'); op names are those of top.mlir"
        )
    return without_effect(source, lost)


def with_derived(table: Mapping[str, str], func: FuncOp) -> Mapping[str, str]:
    """A quantize table with lines for ops that passes have made of ops that it names.

    Where nothing has the name of a line any more, it counts for ops with names that begin with it
    (`derived_name`): X_turned, or the parts of X.
    """
    names = {name for op in func.body.block.ops for name in names_of(op) if name is not None}
    return {**table, **_derived(table, names)}


def _derived(table: Mapping[str, str], names: Set[str]) -> dict[str, str]:
    """Lines for names that are in no table, by the longest line that they begin with."""
    gone = sorted((name for name in table if name not in names), key=len)
    return {
        name: table[old]
        for old in gone
        for name in names
        if name.startswith(f"{old}_") and name not in table
    }


def _said(op: Operation, table: Mapping[str, str]) -> str | None:
    """What the quantize table has for an op."""
    names = (name_of(result) or "" for result in op.results)
    return next((table[name] for name in names if name in table), None)


def _high_precision(func: FuncOp) -> bool:
    flag = module_of(func).attributes.get("module.high_precision")
    return isinstance(flag, IntegerAttr) and bool(flag.value.data)


def _loses_an_operand(op: Operation, weights: Weights | None) -> bool:
    if isinstance(op, top.AddOp | top.SubOp) and len(op.inputs) == 2:
        thresholds = [_threshold(value, weights) for value in op.inputs]
    elif isinstance(op, top.SubConstOp):
        thresholds = [_threshold(op.input, weights), abs(op.const_val.value.data)]
    else:
        return False
    known = [one for one in thresholds if one is not None and one >= NEVER]
    return len(known) == 2 and max(known) / min(known) > TOO_DIFFERENT


def _fine_sums(func: FuncOp, weights: Weights | None) -> set[Operation]:
    """The sums that carry on a tensor with a few rows of far smaller numbers."""
    found: set[Operation] = set()
    for op in func.body.block.ops:
        if isinstance(op, top.ConcatOp) and _has_fine_rows(op, weights):
            found.add(op)
        elif isinstance(op, top.AddOp | top.ReshapeOp):
            found.update([op] if any(value.owner in found for value in op.operands) else ())
    return {op for op in found if isinstance(op, top.AddOp)}


def _has_fine_rows(op: top.ConcatOp, weights: Weights | None) -> bool:
    whole = _threshold(op.output, weights)
    parts = [_threshold(value, weights) for value in op.inputs if is_weight(value)]
    return whole is not None and any(
        part is not None and NEVER <= part < whole / TOO_FINE for part in parts
    )


def _threshold(value: SSAValue, weights: Weights | None) -> float | None:
    if is_weight(value):
        if weights is None:
            return None
        assert isinstance(value.owner, top.WeightOp)
        return float(np.abs(weights[required_name(value.owner)]).max(initial=0))
    known = range_of(value)
    return None if known is None else known.threshold
