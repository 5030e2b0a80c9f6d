"""Results in groups that lie where an operand did."""

import re
from collections.abc import Callable

import pytest
from tests.kernels.harness import Case
from tests.layer_group.op_samples import made
from tests.local.groups import SCRATCH, run_grouped
from tests.local.test_local_attention import FORMS
from tests.local.test_local_equals_global import CASES
from xdsl.ir import Operation

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.emitter import Arith
from xdsl_tpu.backend.local import overwrite
from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.local.cuts import KIND
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.tensor import LocalTensor
from xdsl_tpu.dialects import tpu
from xdsl_tpu.passes.layer_group import overwrite as results
from xdsl_tpu.passes.layer_group.model import Cut
from xdsl_tpu.passes.layer_group.prices import Prices

CHIP = load_chip()
OVER = {
    name
    for name in CASES
    if name.removeprefix("tpu.").split()[0]
    in {
        "Active",
        "Add",
        "AddConst",
        "Clip",
        "Div",
        "GroupNorm",
        "InstanceNorm",
        "LayerNorm",
        "LeakyRelu",
        "Max",
        "MaxConst",
        "Min",
        "MinConst",
        "Mul",
        "MulConst",
        "PixelNorm",
        "RMSNorm",
        "Reciprocal",
        "Relu",
        "Scale",
        "Softmax",
        "Sub",
        "SubConst",
    }
}
"""Those whose results may lie over their first operand."""

READ_AGAIN = {"tpu.Active SIGMOID"}
"""Those whose kernels on 16 bits write the result before they have read the operand."""

IN_F32 = {"tpu.Div", "tpu.Reciprocal"}
"""Those that 16 bits have no kernel for."""


def inside(case: Case, value: str) -> Case:
    """The case with one of its inputs made in its group: only such a value may be written over."""
    line, kind = case.lines.pop(), re.split("[x>]", case.types[value])[-2]
    shape = tuple(int(size) for size in re.findall(r"(\d+)x", case.types[value]))
    last = case.last
    case.op("tpu.AddConst", [value], {"const_val": "0.25 : f64"}, "made", shape, kind)
    case.lines.append(re.sub(rf"%{value}\b", "%made", line))
    case.last = last
    return case


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Cut]:
    """Groups with results over operands, however small these are."""
    monkeypatch.setattr(results, "LARGE", 0)
    return []


def overwriting(seen: list[Cut]) -> Callable[[Cut], Cut]:
    def over(cut: Cut) -> Cut:
        found = results.overwriting(Prices(CHIP), cut)
        seen.extend([] if found is None else [found])
        return found or cut

    return over


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("name", sorted(OVER))
def test_the_result_is_the_same_over_an_operand(name: str, kind: str, seen: list[Cut]) -> None:
    if name in IN_F32:
        kind = "f32"
    case = Case(kind, 1)
    CASES[name](case)
    run_grouped(inside(case, "x"), over=overwriting(seen))
    assert bool(seen) is (kind == "f32" or name not in READ_AGAIN)


@pytest.mark.parametrize("name", sorted(CASES.keys() - OVER - {"tpu.Best", "tpu.CompareConst"}))
def test_others_keep_apart(name: str, seen: list[Cut]) -> None:
    case = Case("f16", 1)
    CASES[name](case)
    run_grouped(inside(case, "x"), over=overwriting(seen))
    assert not seen


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("name", FORMS)
def test_an_attention_may_lie_over_its_queries(name: str, kind: str, seen: list[Cut]) -> None:
    run_grouped(inside(FORMS[name].case(kind), "q"), over=overwriting(seen))
    assert bool(seen) is (FORMS[name].width in (0, FORMS[name].depth))


def relu() -> Operation:
    return made(tpu.ReluOp, [(1, 64, 4, 16)], (1, 64, 4, 16))


Emit = Callable[[LocalContext, LocalTensor, LocalTensor, LocalTensor], None]


def reads_late(context: LocalContext, out: LocalTensor, x: LocalTensor, y: LocalTensor) -> None:
    context.emitter.copy(out, 1.0)
    context.emitter.arith(Arith.ADD, y, x, 1.0)


def reads_first(context: LocalContext, out: LocalTensor, x: LocalTensor, y: LocalTensor) -> None:
    context.emitter.arith(Arith.ADD, y, x, 1.0)
    context.emitter.arith(Arith.ADD, out, y, 1.0)


def reads_as_it_writes(
    context: LocalContext, out: LocalTensor, x: LocalTensor, y: LocalTensor
) -> None:
    context.emitter.arith(Arith.ADD, out, x, 1.0)


def reads_elsewhere(
    context: LocalContext, out: LocalTensor, x: LocalTensor, y: LocalTensor
) -> None:
    """The first row of the result is made of the second of the operand."""
    row = (1, 64, 1, 16)
    one = x.window((0, 0, 1, 0), row, context.chip)
    context.emitter.arith(Arith.ADD, out.window((0, 0, 0, 0), row, context.chip), one, 1.0)
    one = x.window((0, 0, 0, 0), row, context.chip)
    context.emitter.arith(Arith.ADD, out.window((0, 0, 1, 0), row, context.chip), one, 1.0)


def reads_rows_in_order(
    context: LocalContext, out: LocalTensor, x: LocalTensor, y: LocalTensor
) -> None:
    """Columns side by side, whose bytes lie between each other's."""
    for start in (0, 8):
        part = (1, 64, 4, 8)
        one, other = (t.window((0, 0, 0, start), part, context.chip) for t in (x, out))
        context.emitter.arith(Arith.ADD, other, one, 1.0)


@pytest.mark.parametrize(
    ("emit", "cycles"),
    [
        (reads_late, None),
        (reads_first, 2 * 2),
        (reads_as_it_writes, 2 * 2),
        (reads_elsewhere, None),
        (reads_rows_in_order, 2 * 2 * 2),
    ],
)
def test_commands_tell_what_may_lie_over_an_operand(
    emit: Emit, cycles: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kernel(context: LocalContext) -> None:
        x, out = context.operand(0).tensor, context.out.tensor
        emit(context, out, x, context.scratch.aligned(out.shape, out.dtype))

    def found_kernel(op: Operation) -> Callable[[LocalContext], None]:
        return kernel

    monkeypatch.setattr(overwrite, "sliced_kernel", found_kernel)
    op = relu()
    found = overwrite.measure_over(
        op, op.operands[0], lambda v: of_value(v, KIND, CHIP.lanes), KIND, CHIP, SCRATCH
    )
    assert found == cycles
