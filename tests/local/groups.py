"""Running a case as one layer group, cut as the test says, from IR to simulated values."""

from collections.abc import Callable, Sequence

import numpy as np
from tests.kernels.harness import (
    FARTHEST,
    TOLERANCE,
    Case,
    Outcome,
    check_encoding,
    execute,
)
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip, load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interfaces.local_gen import GroupType
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.address_assign.assign import divided_parts
from xdsl_tpu.passes.layer_group.base_groups import computing_ops
from xdsl_tpu.passes.layer_group.build import build_group
from xdsl_tpu.passes.layer_group.model import Cut, cut_group, plan_group
from xdsl_tpu.passes.layer_group.slicing import Slicing
from xdsl_tpu.passes.layer_group.split_weights import mark_split_weights
from xdsl_tpu.passes.layer_group.values import Refusal, Secs
from xdsl_tpu.passes.pipeline import make_pass

SCRATCH = 16384
WHOLE = Secs()


def grouped(
    case: Case,
    kind: GroupType = GroupType.NORMAL,
    secs: Secs = WHOLE,
    scratch: Callable[[Operation], int] = lambda op: SCRATCH,
    chip: Chip | None = None,
    over: Callable[[Cut], Cut] = lambda cut: cut,
) -> ModuleOp:
    """The addressed module with all ops of the case in one group, with results `over` operands."""
    chip = chip or load_chip()
    module = case.module()
    for name in ("weight-reorder", "subnet-divide"):
        make_pass(name, case.options.get(name, "")).apply(make_context(), module)
    _, _, function = divided_parts(module)
    ops = computing_ops(function.body.block)
    mark_split_weights(ops)

    def wanted(op: Operation, kind: GroupType, slicing: Slicing) -> int:
        return scratch(op)

    cut = cut_group(ops, kind, secs, chip)
    group = cut if isinstance(cut, Refusal) else plan_group(over(cut), chip, wanted)
    assert not isinstance(group, Refusal), f"the group was refused: {group}"
    none = next(op for op in function.body.block.ops if isinstance(op, top.NoneOp))
    build_group(group, none, chip)
    make_pass("address-assign", "").apply(make_context(), module)
    assert any(isinstance(op, tpu.GroupOp) for op in module.walk())
    return module


def run_grouped(
    case: Case,
    kind: GroupType = GroupType.NORMAL,
    secs: Secs = WHOLE,
    scratch: Callable[[Operation], int] = lambda op: SCRATCH,
    over: Callable[[Cut], Cut] = lambda cut: cut,
) -> Outcome:
    """Compile as one group, check the stream, simulate in two orders; must match the interpreter.

    The tolerances are those of the kernels over DDR.
    """
    chip = load_chip()
    (expected,) = run_module(case.module(), case.inputs).values()
    module = grouped(case, kind, secs, scratch, chip, over)
    program = generate(module, weights_of(module), chip)
    check_encoding(program)
    early, late = (execute(program, case, chip, ahead) for ahead in (Engine.TIU, Engine.GDMA))
    assert np.array_equal(early, late), "the result depends on which engine runs ahead"
    cycles = simulate(program.tiu, program.gdma, chip).total
    outcome = Outcome(early, np.asarray(expected), program, cycles)
    assert_close(outcome)
    return outcome


def assert_close(outcome: Outcome) -> None:
    """Simulated and interpreted values agree as far as the element type allows."""
    kind = outcome.program.outputs[0].dtype.label
    got, wanted = outcome.simulated.ravel().astype(float), outcome.expected.ravel().astype(float)
    assert got.shape == wanted.shape
    error = float(np.abs(got - wanted).max()) / max(float(np.abs(wanted).max()), 1e-6)
    assert error <= TOLERANCE[kind], f"largest error {error:.2e} of the largest value"
    norms = float(np.linalg.norm(got) * np.linalg.norm(wanted))
    assert 1 - float(got @ wanted) / norms <= FARTHEST[kind]


def layers(outcome: Outcome) -> Sequence[str]:
    """The IR ops that the program's commands are tagged with."""
    return [layer.op for layer in outcome.program.layers]
