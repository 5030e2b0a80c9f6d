"""Rotary embeddings on slices against the interpreter."""

import pytest
from tests.kernels.harness import Case
from tests.local.groups import run_grouped

from xdsl_tpu.passes.layer_group.values import Secs


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("mode", ["interleaved_pairs", "contiguous_halves"])
@pytest.mark.parametrize("secs", [Secs(), Secs(n=2), Secs(h=3)], ids=str)
@pytest.mark.parametrize("scratch", [0, 16384])
def test_tokens_of_heads(kind: str, mode: str, secs: Secs, scratch: int) -> None:
    case, shape = Case(kind), (2, 70, 3, 32)
    x = case.input("x", shape)
    a = case.op("tpu.MulConst", [x], {"const_val": "0.5 : f64"}, "a", shape)
    angles = [case.weight(name, (2, 70, 1, 32)) for name in ("sine", "cosine")]
    attributes = {"rope_mode": f"#tpu<rope_mode {mode}>"}
    y = case.op("tpu.Rope", [a, *angles], attributes, "y", shape)
    case.op("tpu.AddConst", [y], {"const_val": "1.0 : f64"}, "z", shape)
    run_grouped(case, secs=secs, scratch=lambda op: scratch)
