"""Commands whose fields cannot all be meant, each beside one in which they can."""

import re

import pytest
from tests.checks.check_samples import CHIP, change, findings_of, sample

from xdsl_tpu.backend.checks import Fault, check_program
from xdsl_tpu.backend.isa import Engine

CONV = (
    "sCONV.conv_normal res0=[1,8,{h},6]@0x2000:f16 opd0=[4,9,9]@0x0:f16 opd1=[3,3]@0x1000 "
    "opd2=const 0 opd3=const 0 pad=[1,1,0,0] step=[{step},{step}]"
)
POOL = (
    "sPorD.max_pool res0=[1,8,3,3]@0x2000:f16 opd0=[6,6]@0x0:f16 opd1=[{k},2] opd3=const 0 "
    "opd1_x_ins0={dilation} step=[2,2] opd1_const=1 opd2_const=1"
)
MATRIX = (
    "DMA_matrix.matrix_copy dst=[{rows},2,0,32]@{at}{{{row},32,0,0}} "
    "src=[0,0,{rows},64]@0x100000000:f32{{0,0,64,0}} stride_enable=1"
)
RESHAPE = (
    "DMA_tensor.copy dst=[1,1,1,{count}]@0x100080000{{64,64,64,1}} "
    "src=[1,8,2,4]@0x100000000:f32{{64,8,4,1}} stride_enable=1"
)
BROADCAST = "sTRANS_BC.lane_broadcast res0=[1,{c},1,8]@{at}:f16 opd0=@0x400"
GATHER = (
    "sSG.pe_s_gather_{variant} res0=[1,4,{h},9]@0x0:i8 opd0=[1,256]@0x{table:x}:i8{{lanes}} "
    "opd1=[4,9]@0x8000:i8"
)

CASES: dict[str, tuple[str, str, str]] = {
    "a convolution with more rows than its window reaches": (
        CONV.format(h=9, step=1).replace("[1,8,9,6]", "[1,8,9,7]"),
        CONV.format(h=10, step=1).replace("[1,8,10,6]", "[1,8,10,7]"),
        r"TIU command 1 \(sCONV.conv_normal, layer 'here'\): fields contradict each other: "
        r"res0_h = 10 needs 12 elements of opd0 along h, there are 11 with the pads",
    ),
    "a stride of nothing": (
        CONV.format(h=5, step=2).replace("[1,8,5,6]", "[1,8,5,4]"),
        CONV.format(h=5, step=0).replace("[1,8,5,6]", "[1,8,5,4]"),
        r"the window has kernel 3 and stride 0 along h",
    ),
    "a pool with a kernel that sticks out": (
        POOL.format(k=2, dilation=0),
        POOL.format(k=3, dilation=0),
        r"res0_h = 3 needs 7 elements of opd0 along h, there are 6 with the pads",
    ),
    "a pool with too much dilation": (
        POOL.format(k=2, dilation=0),
        POOL.format(k=2, dilation=1),
        r"res0_w = 3 needs 7 elements of opd0 along w, there are 6",
    ),
    "a convolution with rows that no window reads": (
        CONV.format(h=9, step=1).replace("[1,8,9,6]", "[1,8,9,7]"),
        CONV.format(h=8, step=1).replace("[1,8,8,6]", "[1,8,8,7]"),
        r"res0_h = 8 uses 10 elements of opd0 along h, but 9 windows fit in the 11 with the pads",
    ),
    "a pool with columns that no window reads": (
        POOL.format(k=2, dilation=0).replace("[6,6]", "[6,7]"),
        POOL.format(k=2, dilation=0).replace("[6,6]", "[6,8]"),
        r"res0_w = 3 uses 6 elements of opd0 along w, but 4 windows fit in the 8 with the pads: "
        r"opd0_w must end with the last window",
    ),
    "rows of a matrix that take more than a lane": (
        MATRIX.format(rows=8, at="0x8000000", row=8192),
        MATRIX.format(rows=8, at="0x8000000", row=8193),
        r"GDMA command 1 \(DMA_matrix.matrix_copy, layer 'here'\).*8 rows that are "
        r"32772 bytes \(dst_nstride\) apart from byte 0x0 on end at byte 0x40020 of a lane",
    ),
    "rows of a matrix behind an offset in the lane": (
        MATRIX.format(rows=8, at="0x8000080", row=8188),
        MATRIX.format(rows=8, at="0x8000100", row=8188),
        r"8 rows that are 32752 bytes .* from byte 0x100 on end at byte 0x40080 of a lane",
    ),
    "a single row that is as far from the next": (
        MATRIX.format(rows=1, at="0x8000000", row=65536),
        MATRIX.format(rows=1, at="0x8000000", row=65537),
        r"1 rows that are 262148 bytes \(dst_nstride\) apart",
    ),
    "a matrix from DDR to DDR": (
        MATRIX.format(rows=8, at="0x8000000", row=64),
        MATRIX.format(rows=8, at="0x100080000", row=64),
        r"neither side of it is local",
    ),
    "a reshaping copy that loses elements": (
        RESHAPE.format(count=64),
        RESHAPE.format(count=63),
        r"src has 64 elements, dst has 63",
    ),
    "a broadcast beyond the last lane": (
        BROADCAST.format(c=60, at=4 << 18),
        BROADCAST.format(c=61, at=4 << 18),
        r"a broadcast to 61 lanes from lane 4 on; there are 64",
    ),
    "a gather from the bank of its result": (
        GATHER.format(variant="d1coor", h=1, table=0x4000),
        GATHER.format(variant="d1coor", h=1, table=0x1000),
        r"opd0 and res0 are both in bank 0 of local memory",
    ),
    "a gather whose table reaches into the bank of the indices": (
        GATHER.format(variant="d1coor", h=1, table=0x7F00),
        GATHER.format(variant="d1coor", h=1, table=0x7F40),
        r"opd0 and opd1 are both in bank 2",
    ),
    "a gather with indices for fewer channels": (
        GATHER.format(variant="hzd", h=1, table=0x1000),
        GATHER.format(variant="hzd", h=1, table=0x1000).replace("opd1=[4,9]", "opd1=[3,9]"),
        r"opd1_c is 3, it must be res0_c, 4",
    ),
    "a gather of several rows": (
        GATHER.format(variant="hzd", h=1, table=0x1000),
        GATHER.format(variant="hzd", h=2, table=0x1000),
        r"gather and scatter work on rows, res0_h is 2",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_contradiction(name: str) -> None:
    right, wrong, pattern = CASES[name]
    assert {finding.fault for finding in findings_of(right)} <= {Fault.UNWRITTEN}
    found = [str(f) for f in findings_of(wrong) if f.fault is Fault.CONTRADICTION]
    assert any(re.search(pattern, text) for text in found), found


def test_an_empty_matrix_is_out_of_range() -> None:
    command = MATRIX.format(rows=8, at="0x8000000", row=64).replace("[0,0,8,64]", "[0,0,8,0]")
    assert {finding.fault for finding in findings_of(command)} == {Fault.OUT_OF_RANGE}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"localmem_mask_l32": 0xFFFFFFFE}, "lane mask 0xfffffffffffffffe: only transfers of all"),
        ({"decompress_enable": 1}, "how many bytes a compressed source has is not known"),
    ],
)
def test_transfers_whose_bytes_are_not_known(fields: dict[str, int], message: str) -> None:
    program = sample()
    change(program, Engine.GDMA, 1, **fields)
    found = [str(f) for f in check_program(program, CHIP) if f.fault is Fault.UNKNOWN]
    assert len(found) == 1
    assert message in found[0]
