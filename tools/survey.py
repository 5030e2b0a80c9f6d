"""What of a model cannot be compiled: every op at once, before any program is made."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.codegen import SILENT
from xdsl_tpu.backend.layer_cost import timeline_alone
from xdsl_tpu.backend.leaves import LEAVES
from xdsl_tpu.dialects.errors import OpProblem, OpsError, TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.tpu import Tpu
from xdsl_tpu.frontend.onnx import NodeFacts, check_onnx, nearest_rewrite, node_facts
from xdsl_tpu.passes.pipelines import Quantization, Settings, check_disabled, run_stage
from xdsl_tpu.tools.compile_model import Shapes, read_top

_GROUPING = ("layer-group", "absorb-moves", "verify-addresses", "verify-layer-groups")
"""Passes that say nothing of whether an op can be compiled."""


@dataclass(frozen=True)
class Unsupported:
    """An op that cannot be compiled; `node` and `opset` are ONNX's, where it comes from there."""

    node: str
    op: str
    opset: int | None
    types: str
    reason: str
    rewrite: str


@dataclass(frozen=True)
class Survey:
    """What `survey` finds; `ops` counts the ops looked at, 0 when the model cannot be imported."""

    problems: tuple[Unsupported, ...]
    ops: int


def survey(
    model: Path,
    quantize: str,
    chip_name: str,
    input_shapes: Shapes | None,
    quantization: Quantization,
    weights: Path | None = None,
    disable: Collection[str] = (),
    transfer_layout: str | None = None,
) -> Survey:
    """Look at every op of an ONNX model or Top IR: can it be imported, lowered, and has it a
    kernel for its shape? Nothing is written. `chip_name` may be a `.toml` description; the other
    arguments are those of `compile_model`.

    Raises TpuError for a file that cannot be read at all.
    """
    check_disabled(disable)
    chip = load_chip(chip_name)
    if model.suffix == ".onnx":
        problems = check_onnx(model, input_shapes)
        if problems:
            found = (_of_node(p.where, p.reason, p.node) for p in problems)
            return Survey(tuple(found), 0)
    module = read_top(model, input_shapes, weights)
    origin = node_facts(model) if model.suffix == ".onnx" else _nowhere
    settings = Settings(
        quantize, chip.instruction_set, disable, chip_name, quantization, transfer_layout
    )
    run_stage(module, "top", settings)
    ops = sum(1 for op in _ops(module) if not isinstance(op, SILENT))
    types = {name_of(op) or "": _types(op) for op in _ops(module)}
    try:
        run_stage(module, "tpu", settings)
        # Not run on a module that is half lowered: passes may take its ops for granted.
        run_stage(module, "final", replace(settings, disable=(*_GROUPING, *disable)))
        behind = list(_kernel_problems(module, chip))
    except OpsError as error:
        behind = [*error.problems, *_missing_kernels(module)]
    found = (_of_op(problem, types.get(problem.tensor, ""), origin) for problem in behind)
    return Survey(tuple(found), ops)


def _nowhere(name: str) -> NodeFacts | None:
    return None


def _ops(module: ModuleOp) -> Iterator[Operation]:
    for op in module.walk():
        if isinstance(op.parent_op(), FuncOp):
            yield op


def _kernel_problems(module: ModuleOp, chip: Chip) -> Iterator[OpProblem]:
    """Ops whose kernel refuses them, found by asking it for commands."""
    for op in _ops(module):
        if op.dialect_name() != Tpu.name or isinstance(op, SILENT):
            continue
        try:
            timeline_alone(op, chip)
        except TpuError as error:
            name = name_of(op) or ""
            reason = str(error).removeprefix(f"{op.name} '{name}': ")
            yield OpProblem(op.name, name, "no kernel" if type(op) not in LEAVES else reason)


def _missing_kernels(module: ModuleOp) -> Iterator[OpProblem]:
    for op in _ops(module):
        if op.dialect_name() == Tpu.name and type(op) not in LEAVES and not isinstance(op, SILENT):
            yield OpProblem(op.name, name_of(op) or "", "no kernel")


def _types(op: Operation) -> str:
    kinds = (str(operand.type) for operand in op.operands)
    return ", ".join(kind for kind in kinds if kind != "none")


def _of_node(where: str, reason: str, node: NodeFacts | None) -> Unsupported:
    if node is None:
        return Unsupported(where, "", None, "", reason, "")
    rewrite = nearest_rewrite(node.op_type)
    return Unsupported(node.title, node.op_type, node.opset, node.inputs, reason, rewrite)


def _of_op(
    problem: OpProblem, types: str, origin: Callable[[str], NodeFacts | None]
) -> Unsupported:
    node = origin(problem.tensor)
    if node is None:
        kind = problem.op.removeprefix("top.").removeprefix("tpu.")
        return Unsupported(
            problem.tensor, problem.op, None, types, problem.reason, nearest_rewrite(kind)
        )
    reason = f"{problem.op}: {problem.reason}"
    rewrite = nearest_rewrite(node.op_type)
    return Unsupported(node.title, node.op_type, node.opset, types, reason, rewrite)
