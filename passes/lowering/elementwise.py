"""Arithmetic, comparison and choice, element by element."""

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.passes.lowering.common import same
from xdsl_tpu.passes.lowering.context import Lowerings

LOWERINGS: Lowerings = {
    top.AddOp: same(tpu.AddOp),
    top.SubOp: same(tpu.SubOp),
    top.MulOp: same(tpu.MulOp),
    top.DivOp: same(tpu.DivOp, in_f32=True),
    top.MaxOp: same(tpu.MaxOp),
    top.MinOp: same(tpu.MinOp),
    top.AddConstOp: same(tpu.AddConstOp),
    top.SubConstOp: same(tpu.SubConstOp),
    top.MulConstOp: same(tpu.MulConstOp),
    top.MaxConstOp: same(tpu.MaxConstOp),
    top.MinConstOp: same(tpu.MinConstOp),
    top.ReciprocalOp: same(tpu.ReciprocalOp, in_f32=True),
    top.CompareOp: same(tpu.CompareOp),
    top.CompareConstOp: same(tpu.CompareConstOp),
    top.LogicalAndOp: same(tpu.LogicalAndOp),
    top.MaskedFillOp: same(tpu.MaskedFillOp),
    top.ClipOp: same(tpu.ClipOp),
    top.ScaleOp: same(tpu.ScaleOp),
    top.WhereOp: same(tpu.WhereOp),
}
