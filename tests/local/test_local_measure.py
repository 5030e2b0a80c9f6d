"""What `measure` promises holds when the group is emitted."""

from collections import Counter, defaultdict
from collections.abc import Hashable

import pytest
from tests.kernels.harness import Case
from tests.local.groups import grouped, run_grouped
from tests.local.test_local_cnn import conv, residual
from tests.local.test_local_transformer import attention, mlp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.local.measure import Measured, Moved, alike_taps, measure, measure_taps
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.tensor import DType, GlobalTensor
from xdsl_tpu.backend.timing import tiu_cycles
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit, TpuError
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw
from xdsl_tpu.dialects.names import name_of

CASES = {
    "residual": (residual("f16"), GroupType.NORMAL),
    "attention": (attention("f16", 6, 49, 3, 32), GroupType.MM),
    "long_attention": (attention("f32", 1, 100, 2, 20), GroupType.MM),
    "mlp": (mlp("f16"), GroupType.MM),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_scratch_and_cycles_are_those_of_the_emitted_group(name: str) -> None:
    case, kind = CASES[name]
    chip = load_chip()
    measured: dict[str, Measured] = {}

    def sizes(value: SSAValue) -> Ncdhw:
        return of_value(value, kind, chip.lanes)

    def scratch(op: Operation) -> int:
        found = measured[name_of(op) or ""] = measure(op, sizes, kind, chip)
        return found.scratch

    program = run_grouped(case, kind, scratch=scratch).program
    spent: Counter[str] = Counter()
    for command, layer in zip(program.tiu, program.tiu_layers, strict=True):
        if layer >= 0:
            spent[program.layers[layer].name] += tiu_cycles(command, chip)
    assert {n: spent[n] for n in measured} == {n: found.cycles for n, found in measured.items()}


def test_a_slice_that_no_scratch_memory_suffices_for_is_refused() -> None:
    case = Case("f32")
    x, z = case.input("x", (1, 4096, 64)), case.input("z", (1, 4096, 64))
    attributes = {"right_transpose": "true"}
    case.op("tpu.MatMul", [x, z, "none", "none", "none"], attributes, "y", (1, 4096, 4096))
    op = next(op for op in case.module().walk() if op.name == "tpu.MatMul")
    chip = load_chip()

    def sizes(value: SSAValue) -> Ncdhw:
        return Ncdhw(1, 64, 1, 64 if name_of(value) == "y" else 300000, 1)

    with pytest.raises(TpuError, match="scratch memory"):
        measure(op, sizes, GroupType.MM, chip)


def test_rows_of_several_dimensions_are_refused() -> None:
    """Seen as 4 rows of 8 x 16 columns, 32 rows of 16 are no matrix that one of 16 x 16 follows."""
    case = Case("f16")
    x, w = case.input("x", (1, 4, 8, 16)), case.input("w", (16, 16))
    case.op("tpu.MatMul", [x, w, "none", "none", "none"], {}, "y", (1, 4, 8, 16))
    op = next(op for op in case.module().walk() if op.name == "tpu.MatMul")

    def sizes(value: SSAValue) -> Ncdhw:
        return Ncdhw(16, 16, 1, 1, 1) if name_of(value) == "w" else Ncdhw(1, 4, 1, 8, 16)

    with pytest.raises(DoesNotFit, match="products of lines"):
        measure(op, sizes, GroupType.SMALL_C, load_chip())


def test_loads_of_taps_that_are_alike_take_the_same() -> None:
    """What sticks out of the image, and whole words, are all that a place changes."""
    case, chip = Case("f16"), load_chip()
    case.options["weight-reorder"] = "measure=false"
    shape, out = (1, 3, 32, 32), (1, 32, 16, 16)
    conv(case, case.input("x", shape), "y", (shape, out), (5, 5), (2, 2), (2, 2, 2, 2))
    (stem,) = (op for op in grouped(case).walk() if isinstance(op, tpu.Conv2DOp))
    assert any(stem.merged_taps())
    (x, *_), (result,) = stem.operands, stem.results
    image = GlobalTensor(chip.ddr_base, (1, 3, 32, 32), (3072, 1024, 32, 1), DType.F16)
    kinds: defaultdict[Hashable, list[Moved]] = defaultdict(list)
    for start in range(13):
        size = {result: Ncdhw(1, 32, 1, 4, 16), x: Ncdhw(1, 3, 1, 11, 32)}
        place = {result: Ncdhw(0, 0, 0, start, 0), x: Ncdhw(0, 0, 0, max(0, 2 * start - 2), 0)}
        places = size.__getitem__, place.__getitem__
        kinds[alike_taps(x, stem, places, chip)].append(measure_taps(x, stem, image, places, chip))
    assert all(len(set(kind)) == 1 for kind in kinds.values())
    assert 13 > len(kinds) > 2
