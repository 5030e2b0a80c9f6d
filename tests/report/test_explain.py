"""Where cycles go: causes that sum to the run, blocks by name, proposals for the largest losses."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.programs import CHIP, SHAPE, overlapping

from xdsl_tpu.backend.emitter import Emitter, Window
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import IoTensor, Program
from xdsl_tpu.backend.report import explain
from xdsl_tpu.backend.report.blocks import NO_BLOCK, block_of, kind_of
from xdsl_tpu.backend.report.gap import Cause, spent, total
from xdsl_tpu.backend.report.groups import Groups
from xdsl_tpu.backend.report.usage import usage
from xdsl_tpu.backend.tensor import DType, aligned, compact, contiguous
from xdsl_tpu.backend.timing import simulate


@pytest.mark.parametrize(
    ("name", "block"),
    [
        ("/blocks/blocks.3/attn/proj/MatMul_output_0_MatMul", "/blocks/blocks.3"),
        ("/stages.1/blocks.0/mlp/fc1/Add_output_0_Add", "/stages.1/blocks.0"),
        ("load_/layers/7/mlp/Mul_output_0", "/layers/7"),
        ("/decode_head/linear_c/proj/Conv_output_0", "/decode_head"),
        ("/conv1/Conv_output_0", "/conv1"),
        ("/Add_3", NO_BLOCK),
        ("matmul_7", NO_BLOCK),
    ],
)
def test_block(name: str, block: str) -> None:
    assert block_of(name) == block


def test_kinds_leave_numbers_out() -> None:
    assert kind_of("load_/blocks.3/attn/Mul_12") == kind_of("/blocks.11/attn/Mul_7")
    assert kind_of("/blocks.3/attn/Mul") != kind_of("/blocks.3/mlp/Mul")


def test_causes_of_overlapping_layers() -> None:
    """Two loads of values, of which a's copy hides a part of the second."""
    program = overlapping()
    timeline = simulate(program.tiu, program.gdma, CHIP)
    causes = total(spent(program, [timeline], CHIP), timeline.total)
    divided = usage([timeline])
    assert sum(causes.values()) == timeline.total
    assert causes[Cause.REORDER] == timeline.busy[Engine.TIU]
    assert causes[Cause.WAITING] == divided.idle
    dma = (Cause.MOVES, Cause.SPILLS, Cause.ENDS, Cause.WEIGHTS)
    assert sum(causes[cause] for cause in dma) == divided.exposed_dma
    assert causes[Cause.MOVES] > 0  # the copy from DDR to DDR
    assert causes[Cause.WEIGHTS] == 0


def product(rows: int, depth: int, columns: int) -> Program:
    """A product of an input and weights; its output is stored where the input lay."""
    program = Program("net", CHIP.name, "F16")
    weights = np.zeros(depth * columns * 2, np.uint8)
    program.coefficients, program.coefficient_address = weights, CHIP.ddr_base
    x_at, spill_at = CHIP.ddr_base + (1 << 24), CHIP.ddr_base + (1 << 25)
    left, right, result = (1, rows, 1, depth), (1, depth, 1, columns), (1, rows, 1, columns)
    program.inputs = [IoTensor("x", x_at, left, DType.F16)]
    program.outputs = [IoTensor("y", x_at, result, DType.F16)]
    emitter = Emitter(CHIP, program)
    x = aligned(CHIP, 0, left, DType.F16)
    w = aligned(CHIP, 65536, right, DType.F16)
    y = aligned(CHIP, 131072, result, DType.F16)
    with emitter.layer("load_x", "tpu.Load"):
        emitter.load(x, contiguous(x_at, left, DType.F16))
    with emitter.layer("/blocks.0/fc/MatMul", "tpu.MatMul"):
        emitter.load(w, contiguous(CHIP.ddr_base, right, DType.F16))
        emitter.mm2(y, x, w)
    with emitter.layer("/blocks.0/spill", "tpu.Store"):
        emitter.store(contiguous(spill_at, result, DType.F16), y)
        emitter.load(y, contiguous(spill_at, result, DType.F16))
    with emitter.layer("y", "tpu.Store"):
        emitter.store(contiguous(x_at, result, DType.F16), y)
    emitter.finish()
    return program


def test_every_cause_has_its_commands() -> None:
    program = product(64, 256, 256)
    timeline = simulate(program.tiu, program.gdma, CHIP)
    found = {event.position: event.cycles for event in timeline.events[Engine.GDMA]}
    load_x, load_w, spill, again, store = (found[position] for position in range(5))
    causes = total(spent(program, [timeline], CHIP), timeline.total)
    assert causes[Cause.ENDS] == load_x + store
    assert causes[Cause.WEIGHTS] == load_w
    assert causes[Cause.SPILLS] == spill + again
    tiu = timeline.busy[Engine.TIU]
    assert causes[Cause.ARRAY] + causes[Cause.SHAPE] == tiu
    assert causes[Cause.ARRAY] == pytest.approx(64 * 256 * 256 / 8192, abs=1)


def test_zeros_of_weights_are_a_cause_of_their_own() -> None:
    program = product(64, 256, 256)
    whole = total(spent(program, [simulate(program.tiu, program.gdma, CHIP)], CHIP), 1 << 20)
    program.layers = [replace(layer, zeros=0.75) for layer in program.layers]
    timeline = simulate(program.tiu, program.gdma, CHIP)
    causes = total(spent(program, [timeline], CHIP), timeline.total)
    assert causes[Cause.ZEROS] == pytest.approx(0.75 * whole[Cause.ARRAY], abs=1)
    assert causes[Cause.ZEROS] + causes[Cause.ARRAY] == pytest.approx(whole[Cause.ARRAY], abs=1)
    assert causes[Cause.SHAPE] == pytest.approx(whole[Cause.SHAPE], abs=1)
    assert sum(causes.values()) == timeline.total
    found = explain(program, [timeline], CHIP, network_floor=100)
    why = {one.cause: one.why for one in found.proposals}
    assert why[Cause.ZEROS] == "75.0% of what the array multiplies are zeros"


@pytest.mark.parametrize(("insert", "share"), [((0, 0), 0), ((1, 1), 3 / 4), ((0, 2), 2 / 3)])
def test_zeros_between_elements_count_as_zeros(insert: tuple[int, int], share: float) -> None:
    """A transposed convolution as one of an input that is spread."""
    program = Program("net", CHIP.name, "F16")
    emitter = Emitter(CHIP, program)
    height, width = (15 * (zeros + 1) + 1 for zeros in insert)
    x = aligned(CHIP, 0, (1, 64, 16, 16), DType.F16)
    y = aligned(CHIP, 65536, (1, 64, height - 2, width - 2), DType.F16)
    w = compact(CHIP, 196608, (1, 64, 1, 64 * 9), DType.F16)
    with emitter.layer("y", "tpu.Conv2D"):
        emitter.conv(y, x, w, Window((3, 3), insert=insert))
    emitter.finish()
    timeline = simulate(program.tiu, program.gdma, CHIP)
    causes = total(spent(program, [timeline], CHIP), timeline.total)
    macs = 64 * 64 * 9 * (height - 2) * (width - 2)
    assert causes[Cause.ZEROS] == pytest.approx(share * macs / 8192, abs=2)
    assert causes[Cause.ARRAY] == pytest.approx((1 - share) * macs / 8192, abs=2)


def test_explanation_of_a_small_product() -> None:
    """Eight rows use eight of 64 lanes: after its weights, the array's shape is what costs most."""
    program = product(8, 512, 64)
    timeline = simulate(program.tiu, program.gdma, CHIP)
    reasons = Groups(behind={"/blocks.0/spill": "no local form: it is an example"})
    found = explain(program, [timeline], CHIP, network_floor=100, groups=reasons)
    assert found.ratio == timeline.total / 100
    for parts in (found.blocks, found.ops):
        assert sum(sum(causes.values()) for causes in parts.values()) == timeline.total
        assert list(parts) == sorted(parts, key=lambda key: -sum(parts[key].values()))
    proposals = {one.cause: one for one in found.proposals}
    assert [one.cycles for one in found.proposals] == sorted(
        (one.cycles for one in found.proposals), reverse=True
    )
    assert proposals[Cause.SHAPE].example == "/blocks.0/fc/MatMul"
    share = 8 * 512 * 64 / 8192 / timeline.busy[Engine.TIU]
    assert proposals[Cause.SHAPE].why == f"the array does {share:.1%} of what it could"
    assert proposals[Cause.SPILLS].why.endswith("no local form: it is an example")
    assert Cause.ENDS not in proposals
    assert found.as_dict()["proposals"][0]["cause"] == found.proposals[0].cause.value


def test_floor_of_the_program_where_the_network_is_not_known() -> None:
    program = overlapping()
    found = explain(program, [simulate(program.tiu, program.gdma, CHIP)], CHIP)
    size = int(np.prod(SHAPE)) * 4
    assert found.floor == -(-size // CHIP.store_bytes_per_cycle)
