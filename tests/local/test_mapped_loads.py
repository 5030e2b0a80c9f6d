"""Loads as the vendor writes them: of a slice by an index map, of a table of indices."""

import pytest
from tests.kernels.harness import Case
from tests.layer_group.small_nets import chain, change, find
from tests.local.groups import grouped
from tests.tile.test_text import commands, generated
from xdsl.dialects.builtin import AffineMapAttr, TensorType, f16
from xdsl.ir import Block
from xdsl.ir.affine import AffineExpr, AffineMap

from xdsl_tpu.backend.kernels.support import DdrValue
from xdsl_tpu.backend.local.mapped import mapped
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import BOOL
from xdsl_tpu.dialects.errors import NoKernel, TpuError
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.passes.verify_layer_groups import VerifyLayerGroupsPass

N, C, H, W = (AffineExpr.dimension(number) for number in range(4))


def load(source: tuple[int, ...], target: tuple[int, ...], index: AffineMap) -> tpu.LoadOp:
    (value,) = Block(arg_types=[TensorType(f16, source)]).args
    return tpu.LoadOp.create(
        operands=[value],
        result_types=[TensorType(f16, target)],
        attributes={"indexing_map_s2l": AffineMapAttr(index)},
    )


@pytest.mark.parametrize(
    ("source", "target", "index", "first"),
    [
        ((1, 6, 4, 4), (1, 2, 4, 4), AffineMap(4, 0, (N, C + 3, H, W)), 48),
        ((1, 1, 4, 8), (1, 2, 8), AffineMap(3, 0, (N, (C + 2) // 4, (C + 2) % 4, H)), 16),
    ],
)
def test_a_load_takes_what_its_map_says(
    source: tuple[int, ...], target: tuple[int, ...], index: AffineMap, first: int
) -> None:
    found = mapped(load(source, target, index), DdrValue(4096, source, DType.F16))
    assert found == DdrValue(4096 + 2 * first, target, DType.F16)


@pytest.mark.parametrize(
    ("index", "reason"),
    [
        (AffineMap(4, 0, (N, C + 5, H, W)), "leads outside"),
        (AffineMap(4, 0, (N, C * 2, H, W)), "do not lie together"),
        (AffineMap(4, 0, (N, C, W, H)), "do not lie together"),
    ],
)
def test_a_map_that_no_load_can_follow_is_refused(index: AffineMap, reason: str) -> None:
    source = (1, 6, 4, 4)
    with pytest.raises(NoKernel, match=reason):
        mapped(load(source, (1, 2, 4, 4), index), DdrValue(0, source, DType.F16))


def test_a_map_that_changes_nothing_changes_no_command() -> None:
    module = grouped(chain(2))
    before = commands(generated(module))
    find(module, "load_x").attributes["indexing_map_s2l"] = AffineMapAttr(AffineMap.identity(4))
    VerifyLayerGroupsPass().apply(make_context(), module)
    assert commands(generated(module)) == before


def test_a_table_of_indices_is_whole_whatever_its_slices_say() -> None:
    case = Case("f16")
    x = case.input("x", (1, 8, 4, 4))
    table = case.weight("table", (1, 64, 1, 25))
    attributes = {"scale_h": "2 : i64", "scale_w": "2 : i64"}
    case.op("tpu.Upsample", [x, table], attributes, "y", (1, 8, 8, 8))
    module = grouped(case)
    found = find(module, "load_table")
    change(found, c_slice=[2], h_slice=[40], w_slice=[40])
    with pytest.raises(TpuError, match="has c slices"):
        VerifyLayerGroupsPass().apply(make_context(), module)
    found.attributes["is_idx_weight"] = BOOL.encode(True)
    VerifyLayerGroupsPass().apply(make_context(), module)
    generated(module)
