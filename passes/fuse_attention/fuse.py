"""The pass `fuse-attention`."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.transforms.dead_code_elimination import region_dce

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.constants import values_of
from xdsl_tpu.passes.fuse_attention.axes import Origin, origins
from xdsl_tpu.passes.fuse_attention.match import (
    HEADS_FIRST,
    TOKENS,
    Attention,
    find,
    head_major,
)
from xdsl_tpu.passes.fuse_attention.price import Prices
from xdsl_tpu.passes.fuse_attention.ranges import key_ranges
from xdsl_tpu.passes.graph import derived_name, none_before, rebuilt, sole_user
from xdsl_tpu.passes.module_state import State, chip_name, require_state
from xdsl_tpu.passes.processor_tpu_optimize.permutes import HEADS, permute, reshape
from xdsl_tpu.passes.tensors import element_of, functions, shape_of


@dataclass(frozen=True)
class FuseAttentionPass(ModulePass):
    """Make one op of the products and the softmax of an attention where that is faster.

        %s = MatMul(%q, %k) {right_transpose}
        %t = MulConst(%s) {const_val}
        %m = Add(%t, %mask)                     ->     %y = FAttention(%q, %k, %v, %mask) {scale}
        %p = Softmax(%m)
        %y = MatMul(%p, %v)

    Scale and mask may be missing, and the scale may stand before the product; Reshapes and
    Permutes of operands and result are read through, as are Tiles that give neighbouring heads
    the same keys. Products that mix the heads of each row and key in front of the softmax or
    behind it become `mix_scores` and `mix_shares`. Keys that a constant mask hides from rows are
    left out (`key_ranges`).

    `when` is `faster` (measured: the commands of the op against those that its parts would
    become, in a group where they fit one), `always` or `never`. `chip` is a name or a `.toml`
    description, by default `module.chip`.
    """

    name = "fuse-attention"

    when: Literal["faster", "always", "never"] = "faster"
    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_LOWERED, self.name)
        if self.when == "never":
            return
        description = chip_name(op, self.chip)
        always = FuseAttentionPass(when="always", chip=description)
        prices = Prices(
            ctx, load_chip(description), description, lambda module: always.apply(ctx, module)
        )
        for func in functions(op):
            for product in [one for one in func.walk() if isinstance(one, tpu.MatMulOp)]:
                found = find(product)
                if found is not None and (self.when == "always" or prices.is_faster(found)):
                    replace_by_one(found)
            region_dce(func.body)


def replace_by_one(found: Attention) -> tpu.FAttentionOp:
    """Put `tpu.FAttention`, with what brings its operands into a form that kernels read, in the
    place of an attention; what computed it stays, without a use."""
    old = found.product
    block = old.parent
    assert block is not None
    ops, fused = _built(found, none_before(old))
    block.insert_ops_before(ops, old)
    old.output.replace_all_uses_with(ops[-1].results[0])
    old.detach()
    old.erase()
    return fused


def _built(found: Attention, none: SSAValue) -> tuple[list[Operation], tpu.FAttentionOp]:
    """The ops in order; the last one has the result in its old form."""
    old = found.product
    ops: list[Operation] = []
    shared = found.key.shared
    queries = _queries(found, ops)
    operands = [
        _operand(found, origin, axes, ops, none)
        for origin, axes in (
            (queries, _sizes(found, found.heads, found.rows, found.depth)),
            (found.key, _sizes(found, found.heads // shared, found.keys, found.depth)),
            (found.values, _sizes(found, found.heads // shared, found.keys, found.width)),
        )
    ]
    mask, by_row = _mask(found, ops)
    ranges = _ranges(found)
    tokens = _wants_tokens(found)
    sizes = _sizes(found, found.heads, found.rows, found.width)
    shape = [sizes[axis] for axis in (TOKENS if tokens else HEADS_FIRST)]
    major = (*(flag for _, flag in operands), not tokens)
    fused = tpu.FAttentionOp.make(
        derived_name(old, "_fused"),
        (*(value for value, _ in operands), none if mask is None else mask, none),
        result_types=[TensorType(element_of(old.output), shape)],
        scale=found.scale,
        batch=found.batch,
        q_head=found.heads,
        kv_head=found.heads // shared,
        dim=found.depth,
        mq=found.rows,
        mk=found.keys,
        key_ranges=ranges,
        head_major=tuple(int(flag) for flag in major) if any(major) else None,
        mix_scores=found.scores.mix,
        mix_shares=found.mix_shares,
        mask_by_row=by_row or None,
    )
    ops.append(fused)
    value = fused.output
    if tokens:
        ops.append(permute(derived_name(old, "_heads"), value, HEADS, none))
        value = ops[-1].results[0]
    if shape_of(value) == shape_of(old.output):
        ops[-1].location = old.location
    else:
        ops.append(reshape(old.location, value, shape_of(old.output)))
    return ops, fused


def _sizes(found: Attention, heads: int, rows: int, columns: int) -> dict[str, int]:
    return {"batch": found.batch, "head": heads, "row": rows, "column": columns}


def _queries(found: Attention, ops: list[Operation]) -> Origin:
    """The queries, times what the scores of each head are multiplied by."""
    by_head = found.scores.by_head
    if by_head is None:
        return found.queries
    value = found.scores.product.input
    scaled = rebuilt(
        by_head,
        operands=(value, *by_head.operands[1:]),
        result_types=[value.type],
        location=name_loc(derived_name(by_head, "_queries")),
    )
    ops.append(scaled)
    axes = (("batch", found.batch), ("head", found.heads), ("row", found.rows))
    return next(origins(scaled.output, (*axes, ("column", found.depth))))


def _operand(
    found: Attention,
    origin: Origin,
    sizes: dict[str, int],
    ops: list[Operation],
    none: SSAValue,
) -> tuple[SSAValue, bool]:
    """An operand as [batch, rows, heads, columns], or (True) with heads first."""
    value, major = origin.value, head_major(origin)
    name = derived_name(value, f"_for_{derived_name(found.product, '')}")
    if major is None:
        order = origin.order()
        assert order is not None
        missing = [axis for axis in TOKENS if axis not in order]
        now = (*missing, *order)
        ops.append(reshape(f"{name}_axes", value, [sizes[axis] for axis in now]))
        turned = permute(name, ops[-1].results[0], tuple(now.index(a) for a in TOKENS), none)
        ops.append(turned)
        return turned.output, False
    shape = tuple(sizes[axis] for axis in (HEADS_FIRST if major else TOKENS))
    if shape_of(value) == shape:
        return value, major
    ops.append(reshape(name, value, shape))
    return ops[-1].results[0], major


def _mask(found: Attention, ops: list[Operation]) -> tuple[SSAValue | None, bool]:
    """The mask over batch, heads, rows and keys; or (True) with its rows where queries have them,
    if it has some and is the same for all heads."""
    mask, factor = found.scores.mask, found.scores.mask_factor
    if mask is None or found.mask_shape is None:
        return None, False
    batch, heads, rows, keys = found.mask_shape
    by_row = rows > 1 and heads == 1
    shape = (batch, rows, 1, keys) if by_row else found.mask_shape
    name = derived_name(found.product, "_mask")
    if factor != 1:
        ops.append(
            tpu.MulConstOp.make(
                f"{name}_scaled", (mask,), result_types=[mask.type], const_val=factor
            )
        )
        mask = ops[-1].results[0]
    if (1,) * (4 - len(shape_of(mask))) + shape_of(mask) != shape:
        ops.append(reshape(name, mask, shape))
        mask = ops[-1].results[0]
    return mask, by_row


def _ranges(found: Attention) -> tuple[int, ...] | None:
    mask = found.scores.mask
    if mask is None or found.mask_shape is None or found.scores.mask_factor < 0:
        return None
    values = values_of(mask)
    if values is None or found.mask_shape[2] == 1:
        return None
    return key_ranges(np.asarray(values) * found.scores.mask_factor)


def _wants_tokens(found: Attention) -> bool:
    """Whether what follows puts the heads of each row beside each other."""
    if found.heads == 1:
        return True
    value: SSAValue = found.product.output
    while (shape := sole_user(value, tpu.ReshapeOp)) is not None:
        value = shape.output
    after = sole_user(value, tpu.PermuteOp)
    if after is None:
        return False
    # Rows may come first, with the heads of all images beside each other.
    return ints(after.order) == HEADS or (found.batch == 1 and ints(after.order) == (1, 0, 2))
