"""One channel, loaded or computed, that an op needs in every lane (adaptive norms' modulation)."""

from collections.abc import Sequence

import pytest
from tests.kernels.harness import Case
from tests.local import groups
from tests.local.groups import run_grouped
from xdsl.ir import Operation

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interfaces.local_gen import GroupType
from xdsl_tpu.passes.layer_group.values import Secs


def modulated(kind: str, n: int, channels: int, plane: tuple[int, int]) -> Case:
    """x * (vector + 1) + shift: a loaded channel, and one that the group computes."""
    case = Case(kind, 5)
    shape, narrow = (n, channels, *plane), (1, 1, *plane)
    x, scale = case.input("x", shape), case.input("scale", narrow)
    shift = case.input("shift", narrow)
    factor = case.op("tpu.AddConst", [scale], {"const_val": "1.0 : f64"}, "factor", narrow)
    product = case.op("tpu.Mul", [x, factor], {}, "product", shape)
    case.op("tpu.Add", [product, shift], {}, "out", shape)
    return case


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
@pytest.mark.parametrize(
    ("channels", "plane", "secs"),
    [
        (3, (1, 40), Secs()),
        (64, (1, 40), Secs()),
        (65, (1, 40), Secs()),
        (197, (1, 48), Secs(c=2)),
        (100, (8, 5), Secs(h=3)),
        (1, (8, 5), Secs(n=2)),
    ],
    ids=str,
)
def test_one_channel_reaches_every_lane(
    kind: str, channels: int, plane: tuple[int, int], secs: Secs
) -> None:
    run_grouped(modulated(kind, 2, channels, plane), GroupType.NORMAL, secs)


def _none_marked(ops: Sequence[Operation]) -> list[top.WeightOp]:
    """As before `layer-group` marks any."""
    return []


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize("secs", [Secs(), Secs(c=2), Secs(h=3), Secs(c=2, h=2)], ids=str)
def test_a_weight_of_one_channel_reaches_every_lane(
    kind: str, secs: Secs, marked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loaded slice by slice, or, as passes before `layer-group` see it, whole."""
    if not marked:
        monkeypatch.setattr(groups, "mark_split_weights", _none_marked)
    case, shape, row = Case(kind, 6), (1, 197, 48), (1, 1, 48)
    product = case.op("tpu.Mul", [case.input("x", shape), case.weight("w", row)], {}, "p", shape)
    case.op("tpu.Add", [product, case.weight("b", row)], {}, "out", shape)
    run_grouped(case, GroupType.NORMAL, secs)
