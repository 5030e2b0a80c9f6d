"""What is read back from its text issues the same commands; what is changed in it changes them."""

from collections.abc import Callable

import pytest
from tests.layer_group.small_nets import chain, residual
from tests.local.groups import grouped
from tests.tile.reading import commands, lowered
from xdsl.dialects.builtin import ModuleOp, NoneType

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects import tile, top, tpu
from xdsl_tpu.dialects.attrs import I64_INT
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.text import make_context, module_text
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.layer_group.values import Secs
from xdsl_tpu.passes.tile_programs import LowerToTilePass

CHIP = load_chip()


def generated(module: ModuleOp) -> Program:
    return generate(module, weights_of(module), CHIP)


@pytest.mark.parametrize("secs", [Secs(), Secs(h=3), Secs(h=2, w=2), Secs(h=4, w=3)])
def test_slices_issue_the_same_commands(secs: Secs) -> None:
    module = grouped(residual(), secs=secs)
    before = commands(generated(module))
    assert commands(generated(lowered(module))) == before


def test_commands_are_those_of_the_text() -> None:
    """A buffer that is moved in the text lies elsewhere in the commands."""
    module = lowered(grouped(chain(2)))
    before = generated(module)
    (alloc,) = [
        op for op in module.walk() if isinstance(op, tile.AllocOp) and _id(op) == _last(module)
    ]
    alloc.attributes["address"] = I64_INT.encode(131072)
    for op in module.walk():
        if isinstance(op, tile.ComputeOp | tile.StoreOp):
            op.attributes["free"] = tile.ComputeOp.of(0, "", [], alloc.buffer, 0, 0).free
    after = generated(module)
    assert before.tiu[-2]["res0_addr"] != after.tiu[-2]["res0_addr"] == 131072
    assert [c.form.name for c in before.tiu] == [c.form.name for c in after.tiu]


def _id(op: tile.AllocOp) -> int:
    return op.id.value.data


def _last(module: ModuleOp) -> int:
    return max(op.id.value.data for op in module.walk() if isinstance(op, tile.ComputeOp))


def _core(program: tile.ProgramOp) -> None:
    program.attributes["core"] = I64_INT.encode(1)


def _unknown(program: tile.ProgramOp) -> None:
    next(op for op in program.body.block.ops if isinstance(op, tile.LoadOp)).attributes["id"] = (
        I64_INT.encode(77)
    )


def _no_result(program: tile.ProgramOp) -> None:
    next(op for op in program.body.block.ops if isinstance(op, tile.AllocOp)).attributes["id"] = (
        I64_INT.encode(77)
    )


def _other_kind(program: tile.ProgramOp) -> None:
    compute = next(op for op in program.body.block.ops if isinstance(op, tile.ComputeOp))
    compute.attributes["kind"] = tile.ComputeOp.of(0, "tpu.Relu", [], compute.out, 0, 0).kind


def _fewer_operands(program: tile.ProgramOp) -> None:
    compute = next(op for op in program.body.block.ops if isinstance(op, tile.ComputeOp))
    compute.operands = [compute.given[0], compute.out]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_core, "0 tile programs for core 0, 1 expected"),
        (_unknown, "tile.load names op 77, no tpu.Load"),
        (_no_result, "no op 77 makes what is allocated"),
        (_other_kind, "is no tpu.Relu"),
        (_fewer_operands, "operands, not 1"),
    ],
)
def test_text_that_does_not_fit_its_group_is_refused(
    change: Callable[[tile.ProgramOp], None], message: str
) -> None:
    module = lowered(grouped(chain(1)))
    change(next(op for op in module.walk() if isinstance(op, tile.ProgramOp)))
    with pytest.raises(TpuError, match=message):
        generated(module)


def test_every_group_has_one_program_for_each_core() -> None:
    module = grouped(chain(2))
    LowerToTilePass().apply(make_context(), module)
    text = module_text(module)
    LowerToTilePass().apply(make_context(), module)
    assert module_text(module) == text
    (group,) = [op for op in module.walk() if isinstance(op, tpu.GroupOp)]
    assert isinstance(group.next_op, tile.ProgramOp)
    assert not isinstance(group.next_op.next_op, tile.ProgramOp)


def test_a_program_without_its_group_is_refused() -> None:
    module = lowered(grouped(chain(1)))
    program = next(op for op in module.walk() if isinstance(op, tile.ProgramOp))
    last = program.parent_block()
    assert last is not None
    assert last.last_op is not None
    last.insert_op_before(tile.ProgramOp.of(0, []), last.last_op)
    last.insert_op_after(top.NoneOp.create(result_types=[NoneType()]), program)
    with pytest.raises(TpuError, match="must stand behind the tpu"):
        generated(module)
