"""Transfers of whole EUs with the gaps behind the rows that they hold; see `keep-lanes`."""

import pytest

from xdsl_tpu.backend.asm import assemble
from xdsl_tpu.backend.checks import Fault, check_program
from xdsl_tpu.backend.chip import load_chip

LISTING = """
.program "rows"
.chip "BM1684X"
.quantize "F32"
.coefficients @0x100000000 size=0
.arena @0x100000000 size=4096
.input "x" [1,2,1,{row}]@0x100000400:f32
.output "y" [1,2,1,{width}]@0x100000000:f32

.layer 0 tpu.Load "x"
DMA_tensor.copy id=1 dep=0 dst=@{into:#x}{{32,16,16,1}} src=[1,2,1,{row}]@0x100000400:f32{{0,{row},0,1}} stride_enable=1 nchw_copy=1
.layer 1 tpu.Store "y"
DMA_tensor.copy id=2 dep=0 dst=@0x100000000{{0,{width},0,1}} src=[1,2,1,{width}]@0x8000000:f32{{32,16,16,1}} stride_enable=1 nchw_copy=1
.layer none
SYSID.end id=1 dep=0
sDMA_sys.end_of_stream id=3 dep=0
"""  # noqa: E501


@pytest.mark.parametrize(
    ("row", "width", "into", "missing"),
    [
        (10, 10, 0x8000000, None),
        (10, 16, 0x8000000, None),
        (1, 16, 0x8000000, None),
        (10, 15, 0x8000000, "40 bytes of local memory in 0x28 to 0x3b"),  # part of the gap
        (10, 32, 0x8000000, "128 bytes of local memory in 0x40 to 0x7f"),  # an EU behind it
        (10, 16, 0x8000004, "8 bytes of local memory in 0x0 to 0x3"),  # begins with a gap
    ],
)
def test_gaps(row: int, width: int, into: int, missing: str | None) -> None:
    text = LISTING.format(row=row, width=width, into=into)
    found = check_program(assemble(text, "rows.asm"), load_chip())
    assert [one.fault for one in found] == [Fault.UNWRITTEN] * (missing is not None)
    if missing is not None:
        assert missing in str(found[0])


def test_a_moved_gap_is_not_written() -> None:
    """A transfer may move a gap; what computes with it afterwards is still reported."""
    text = LISTING.format(row=10, width=16, into=0x8000000)
    add = (
        '.layer 2 tpu.Add "sum"\n'
        "sAR.add id=1 dep=2 res0=[1,2,1,{0}]@0x4000:f32 opd0=@0x0:f32 opd1=@0x0:f32\n"
        ".layer none\nSYSID.end id=2"
    )
    for read, faults in ((10, []), (16, [Fault.UNWRITTEN])):
        program = text.replace(".layer none\nSYSID.end id=1", add.format(read))
        found = check_program(assemble(program, "rows.asm"), load_chip())
        assert [one.fault for one in found] == faults, found
