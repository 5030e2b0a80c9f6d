"""What crashes the vendor's C model is named, its harmless twin is not."""

import re
from pathlib import Path

import pytest
from tests.checks.check_samples import CHIP

from xdsl_tpu.backend.asm import assemble
from xdsl_tpu.backend.checks import Fault, check_program

DATA = Path(__file__).parents[1] / "data" / "cmodel_refuses"

PAIRS = {
    "w0": ("w1", r"GDMA command 1 .*src_wstride is 0 \(of a single element it must be 1\)"),
    "mxbad": ("mxok", r"GDMA command 1 .*1 rows .* from byte 0x30c80 on end at byte 0x49480"),
    "cs17": ("cs16", r"TIU command 1 .*along h, but 17 windows fit in the 17 with the pads"),
}


def _findings(name: str) -> list[str]:
    program = assemble((DATA / f"{name}.asm").read_text(encoding="utf-8"), name)
    found = check_program(program, CHIP)
    assert {finding.fault for finding in found} <= {Fault.CONTRADICTION}
    return [str(finding) for finding in found]


@pytest.mark.parametrize("name", PAIRS)
def test_what_crashes_the_c_model_is_found(name: str) -> None:
    twin, pattern = PAIRS[name]
    (found,) = _findings(name)
    assert re.search(pattern, found), found
    assert not _findings(twin)
