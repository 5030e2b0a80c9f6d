"""What a Concat in floats puts together keeps the ranges that it has by itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.passes.real_networks import apply
from tests.passes.semantics import Net, ops_of, random_inputs
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.passes.calibration.observe import calibrate
from xdsl_tpu.passes.calibration.steps import step_of


def joined(small: float, folder: Path) -> ModuleOp:
    """Two products, one of them `small`, side by side, in 8 bits as far as that goes."""
    net = Net()
    x = net.input("x", 1, 8, 16)
    rng = np.random.default_rng(0)
    parts = [
        net.op(
            top.MatMulOp,
            name,
            (x, net.weight(f"{name}_w", values=factor * rng.standard_normal((16, 16))), net.none),
        )
        for name, factor in (("large", 1.0), ("small", small))
    ]
    both = net.op(top.ConcatOp, "both", parts, axis=2)
    y = net.op(top.MatMulOp, "y", (both, net.weight("y_w", 32, 8), net.none))
    module = net.module(y)
    inputs = random_inputs(module, 1)

    def run(show: Callable[[str, Any], None]) -> None:
        run_module(module, inputs, trace=show)

    (folder / "table").write_text(calibrate(run, "max").text())
    return apply(
        module,
        ("import-calibration-table", f"file={folder / 'table'} asymmetric=false"),
        ("convert-top-to-tpu", "mode=INT8 chip=bm1684x"),
    )


@pytest.mark.parametrize(("small", "apart"), [(0.5, False), (0.01, True)])
def test_a_far_smaller_part_has_steps_of_its_own(small: float, apart: bool, tmp_path: Path) -> None:
    lowered = joined(small, tmp_path)
    steps = [step_of(op.output) for op in ops_of(lowered, tpu.MatMulOp)[:2]]
    scales = [step.scale for step in steps if step is not None]
    assert len(scales) == 2
    assert (max(scales) > 50 * min(scales)) == apart
