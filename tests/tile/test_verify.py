"""The check of tile programs accepts what is built and names every fault planted into it."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.kernels.harness import Case
from tests.layer_group.small_nets import groups_of, residual
from tests.local.groups import grouped

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.local import scan
from xdsl_tpu.backend.local.cuts import Way, cut_into
from xdsl_tpu.backend.local.problem import Problem, as_it_stands
from xdsl_tpu.backend.local.slices import Slices
from xdsl_tpu.backend.tensor import LocalTensor
from xdsl_tpu.backend.tile.build import build
from xdsl_tpu.backend.tile.program import Buffer, Compute, Load, Step, Store, TileProgram
from xdsl_tpu.backend.tile.verify import faults
from xdsl_tpu.dialects import tpu
from xdsl_tpu.passes.layer_group.values import Secs

CHIP = load_chip()


ROWS = Secs(h=3)


def built(secs: Secs = ROWS) -> TileProgram:
    """conv-relu, conv, add of the input, relu."""
    (group,) = groups_of(grouped(residual(), secs=secs))
    return build(group, CHIP)


def found(program: TileProgram) -> str:
    return "\n".join(faults([program], CHIP))


@pytest.mark.parametrize("secs", [Secs(), Secs(h=3), Secs(h=2, w=2), Secs(h=6, w=3)])
def test_what_is_built_is_right(secs: Secs) -> None:
    assert not found(built(secs))


def test_no_step_can_be_left_out() -> None:
    program = built()
    kinds = {type(step) for step in program.steps}
    assert kinds == {Load, Store, Compute}
    for number, step in enumerate(program.steps):
        rest = (*program.steps[:number], *program.steps[number + 1 :])
        assert found(replace(program, steps=rest)), f"nobody misses {step}"


def test_no_buffer_can_lie_where_another_is_in_use() -> None:
    """Every buffer is moved onto each one that the step which writes it reads, or that is read
    after it: always found, but where an op may write over its operand."""
    program = built(Secs(h=2))
    for number, step in enumerate(program.steps):
        for written in _written(step):
            for other in _needed_after(program, number) - {written}:
                moved = _moved(program, written, other.place.tensor.address)
                assert found(moved), f"{written} may lie on {other}"


def _written(step: Step) -> tuple[Buffer, ...]:
    if isinstance(step, Load):
        return step.targets
    return (step.out,) if isinstance(step, Compute) else ()


def _needed_after(program: TileProgram, number: int) -> set[Buffer]:
    """Written before a step and read after it."""
    before = {one for step in program.steps[:number] for one in _written(step)}
    return {
        one
        for step in program.steps[number + 1 :]
        for one in ((step.source,) if isinstance(step, Store) else getattr(step, "operands", ()))
        if one in before
    }


def _moved(program: TileProgram, buffer: Buffer, address: int) -> TileProgram:
    tensor = replace(buffer.place.tensor, address=address)
    return _with(program, buffer, tensor)


def _with(program: TileProgram, buffer: Buffer, tensor: LocalTensor) -> TileProgram:
    """The program with a buffer that lies otherwise, without scratch memory."""
    other = Buffer(buffer.value, replace(buffer.place, tensor=tensor))

    def new(one: Buffer | None) -> Buffer | None:
        return other if one is buffer else one

    steps: list[Step] = []
    for step in program.steps:
        if isinstance(step, Load):
            steps.append(replace(step, targets=tuple(map(new, step.targets))))
        elif isinstance(step, Store):
            steps.append(replace(step, source=new(step.source), free=()))
        else:
            operands = tuple(map(new, step.operands))
            out = new(step.out)
            steps.append(replace(step, operands=operands, out=out, own=None, free=()))
    return replace(program, steps=tuple(steps))


def _first(program: TileProgram, kind: type[Step]) -> int:
    return next(n for n, step in enumerate(program.steps) if isinstance(step, kind))


def _changed(program: TileProgram, number: int, step: Step) -> TileProgram:
    return replace(program, steps=(*program.steps[:number], step, *program.steps[number + 1 :]))


def _beyond(program: TileProgram) -> TileProgram:
    step = program.steps[_first(program, Compute)]
    assert isinstance(step, Compute)
    return _moved(program, step.out, CHIP.local_bytes - CHIP.eu_bytes)


def _scratch_beyond(program: TileProgram) -> TileProgram:
    number = _first(program, Compute)
    step = program.steps[number]
    assert isinstance(step, Compute)
    return _changed(program, number, replace(step, own=(0, CHIP.local_bytes + 1), free=()))


def _short_operand(program: TileProgram) -> TileProgram:
    step = program.steps[_first(program, Compute)]
    assert isinstance(step, Compute)
    assert step.operands[0] is not None
    tensor = step.operands[0].place.tensor
    n, c, h, w = tensor.shape
    return _with(program, step.operands[0], replace(tensor, shape=(n, c, h - 1, w)))


def _outside_its_value(program: TileProgram) -> TileProgram:
    step = program.steps[_first(program, Store)]
    assert isinstance(step, Store)
    tensor = step.source.place.tensor
    n, c, h, w = tensor.shape
    return _with(program, step.source, replace(tensor, shape=(n, c, h, w + 1)))


def _other_value(program: TileProgram) -> TileProgram:
    number = _first(program, Store)
    store, compute = program.steps[number], program.steps[_first(program, Compute)]
    assert isinstance(store, Store)
    assert isinstance(compute, Compute)
    return _changed(program, number, replace(store, source=compute.out))


def _absent_operand(program: TileProgram) -> TileProgram:
    number = _first(program, Compute)
    step = program.steps[number]
    assert isinstance(step, Compute)
    return _changed(program, number, replace(step, operands=(None, *step.operands[1:])))


@pytest.mark.parametrize(
    ("plant", "message"),
    [
        (_beyond, "of 262144 in a lane"),
        (_scratch_beyond, "is outside local memory"),
        (_short_operand, "needs h 0 to 5 of 'load_x'"),
        (_outside_its_value, "is w 0 to 13 of 12"),
        (_other_value, "for 'y'"),
        (_absent_operand, "has nothing for 'load_x'"),
    ],
)
def test_faults_are_named(plant: Callable[[TileProgram], TileProgram], message: str) -> None:
    assert message in found(plant(built()))


def test_a_load_may_not_come_before_the_last_reader() -> None:
    """The slice after is loaded where the one before still lies."""
    program = built()
    loads = [n for n, step in enumerate(program.steps) if isinstance(step, Load)]
    last = loads[-1]
    early = program.steps[last]
    moved = (*program.steps[:4], early, *program.steps[4:last], *program.steps[last + 1 :])
    assert "has written over" in found(replace(program, steps=moved))


def test_a_group_without_programs_stores_nothing() -> None:
    program = built(Secs())
    assert "nothing stores" in found(replace(program, steps=()))


def test_what_goes_on_does_so_from_the_slice_before() -> None:
    """A recurrence of 6 steps, two in each slice."""
    case = Case("f16")
    operands = [case.input("a", (1, 64, 6, 8)), case.input("b", (1, 64, 6, 8)), "none"]
    case.op("tpu.LinearScan", operands, {"axis": "2 : i64"}, "y", (1, 64, 6, 8))
    (op,) = (one for one in case.module().walk() if isinstance(one, tpu.LinearScanOp))
    (view,) = as_it_stands(op, CHIP)
    seen = Problem.of(op, view, scan.scan).op([CHIP.ddr_base] * 4)
    cut = cut_into(seen, Way((1, 64, 2, 8, 1)), CHIP)
    assert cut is not None
    program = Slices(seen, scan.scan, cut, CHIP).program(0, Piece(0, 3))
    assert not found(program)
    computes = [n for n, step in enumerate(program.steps) if isinstance(step, Compute)]
    first, _, last = (program.steps[number] for number in computes)
    assert isinstance(first, Compute)
    assert isinstance(last, Compute)
    for before, end in ((None, 0), (first.out, 2)):
        changed = _changed(program, computes[-1], replace(last, before=before))
        assert f"goes on along h from 4, has what is up to {end}" in found(changed)
