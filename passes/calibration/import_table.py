"""The pass `import-calibration-table`."""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.calibration.ranges import Range, initial_range, range_of, set_range
from xdsl_tpu.passes.calibration.table import CalibrationTable, read_table
from xdsl_tpu.passes.module_state import (
    State,
    require_state,
    set_module_attributes,
    text_attribute,
)
from xdsl_tpu.passes.tensors import functions

REORDERS = (
    top.Depth2SpaceOp,
    top.FlattenOp,
    top.PermuteOp,
    top.ReshapeOp,
    top.ReverseOp,
    top.ShuffleChannelOp,
    top.SqueezeOp,
    top.SwapDimInnerOp,
    top.TileOp,
    top.UnsqueezeOp,
)
"""Ops whose result has the numbers of their operand, all of them."""

MOVES = (*REORDERS, top.ConcatOp, top.SliceOp, top.SplitOp)
"""Ops whose results hold numbers of their operands only: they need no line of their own."""


@dataclass(frozen=True)
class ImportCalibrationTablePass(ModulePass):
    """Put the ranges of a calibration table into the types of top IR.

        %1 = Relu(%0) : tensor<8xf32>  ->  tensor<8x!quant.calibrated<f32<0.0:1.6154466>>>

    Every f32 result needs a line of the table `file` under its name. Ops that only move elements
    take over the range of their operands when they have none. Without `file` nothing happens.
    A range is the table's smallest and largest number; with `asymmetric=false` it is the threshold,
    on both sides of zero where there are negative numbers. Told `asymmetric=true` as well,
    `convert-top-to-tpu` gives ranges zero points; else it quantises symmetrically either way, over
    the largest magnitude of a range.
    """

    name = "import-calibration-table"

    file: str = ""
    asymmetric: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.file:
            return
        if text_attribute(op, "module.state") == State.TOP_CALIBRATED:
            raise TpuError(
                f"{self.name}: the network has ranges already, as a quantised ONNX model does; "
                "leave the table out"
            )
        require_state(op, State.TOP_F32, self.name)
        table = read_table(self.file)
        for func in functions(op):
            _annotate(func, table, self.file, self.asymmetric)
            func.update_function_type()
        set_module_attributes(op, {"module.state": StringAttr(State.TOP_CALIBRATED)})


def _annotate(func: FuncOp, table: CalibrationTable, file: str, asymmetric: bool) -> None:
    missing: list[str] = []
    wanted = 0
    for op in func.body.block.ops:
        for index in _calibrated_results(op):
            wanted += 1
            name = name_of(op.results[index]) or "?"
            seen = table.thresholds.get(name)
            new = _moved(op) if seen is None else initial_range(op, seen, asymmetric)
            if new is not None:
                set_range(op.results[index], new)
            elif seen is None:
                missing.append(name)
    if missing:
        shown = "".join(f"\n  {name}" for name in missing[:5])
        more = f"\n  and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise TpuError(
            f"calibration table {file} has no line for {len(missing)} of {wanted} tensors; "
            "make a table for this model with tpu-calibrate, and the same --disable-pass:"
            f"{shown}{more}"
        )


def _calibrated_results(op: Operation) -> Iterator[int]:
    """The places of an op's results that can have a range: f32 tensors that are no weights."""
    if op.dialect_name() != top.Top.name or isinstance(op, top.WeightOp):
        return
    for index, result in enumerate(op.results):
        if _is_f32(result):
            yield index


def _is_f32(result: OpResult) -> bool:
    return isa(result.type, TensorType[Attribute]) and isinstance(
        result.type.element_type, Float32Type
    )


def _moved(op: Operation) -> Range | None:
    """What holds the ranges of all operands of an op that moves elements only."""
    if not isinstance(op, MOVES):
        return None
    ranges = [range_of(operand) for operand in op.operands if isinstance(operand.type, TensorType)]
    known = [one for one in ranges if one is not None]
    if not known or len(known) != len(ranges):
        return None
    return Range(min(one.min for one in known), max(one.max for one in known))
