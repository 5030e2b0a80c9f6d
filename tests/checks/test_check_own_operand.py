"""Results over their own operands: what is read in time is allowed, the rest is found."""

import re

import pytest
from tests.checks.check_samples import findings_of

from xdsl_tpu.backend.checks import Fault

CAST = "sAR.data_convert res0=[1,70,2,24]@{to}:{wide} opd0=@0x400:{narrow} opd2_n_str=1"
ADD = "sAR.add res0=[1,70,4,8]@{to}:f16 opd0=@0x400:f16 opd1=@0x4000:f16"
SPREAD = "sAR.mul res0=[1,4,4,8]@0x400:f16 opd0=@0x1000:f16 opd1=@{at}:f16{{0,0,0,0}}"
SUM = (
    "sPorD.avg_pool res0=[1,{c},1,{w}]@{to}:f32 opd0=[1,48]@0x400:f32 opd1=[1,{k}]const 0x3f800000 "
    "opd2=const 0 opd3=const 0 step=[1,{step}]"
)
PRODUCT = "sMM2.mm2_nn res0=[64,32]@{to}:f16 opd0=@0x400:f16 opd1=[16,32]@0x1000"
CONV = (
    "sCONV.conv_normal res0=[1,8,6,6]@{to}:f16 opd0=[4,6,6]@0x400:f16 opd1=[1,1]@0x1000 "
    "opd2=const 0 opd3=const 0 step=[1,1]"
)
LANES = "sTRANS_BC.{how} res0=[1,{c},2,32]@{to}:f16 opd0=@0x400"
TURN = "sTRANS_BC.cw_transpose res0=[1,32,1,48]@{to}:f16 opd0=@0x400"
TABLE = (
    "sSG.pe_s_gather_hzd res0=[1,4,1,64]@{to}:i8 opd0=[1,256]@0x400:i8{{lanes}} opd1=[4,64]@{at}:i8"
)
LINE = (
    "DMA_tensor.copy dst=@{to}{{0,0,{step},1}} src=[1,1,16,64]@0x100000000:f32{{0,0,{step},1}} "
    "stride_enable=1 nchw_copy=1"
)

CASES: dict[str, tuple[str, str, str]] = {
    "a sum in place, and a row further on": (
        ADD.format(to="0x400"),
        ADD.format(to="0x440"),
        r"TIU command 1 \(sAR.add, layer 'here'\): overwrites its own operand: res0 overwrites "
        r"opd0: 64 bytes in 0x440 to 0x47f of lane 0 are written before they are read",
    ),
    "a sum towards lower addresses, and towards higher ones by half a row": (
        ADD.format(to="0x3c0"),
        ADD.format(to="0x440").replace("[1,70,4,8]", "[1,64,8,8]"),
        r"64 bytes in 0x440 to 0x47f",
    ),
    "a cast to fewer bytes, and to more": (
        CAST.format(to="0x400", wide="f16", narrow="f32"),
        CAST.format(to="0x400", wide="f32", narrow="f16"),
        r"res0 overwrites opd0: \d+ bytes in 0x402 to ",
    ),
    "a factor beside the product, and within it": (
        SPREAD.format(at="0x440"),
        SPREAD.format(at="0x400"),
        r"res0 overwrites opd1: 2 bytes in 0x400 to 0x401 of lane 0",
    ),
    "sums over rows from the same address on, and from the last one": (
        SUM.format(c=130, w=1, k=48, step=1, to="0x400"),
        SUM.format(c=130, w=1, k=48, step=1, to="0x580"),
        r"res0 overwrites opd0: 8 bytes in 0x580 to 0x5c3 of lane 0",
    ),
    "sums of pairs from the same address on, and a row further on": (
        SUM.format(c=4, w=24, k=2, step=2, to="0x400"),
        SUM.format(c=4, w=24, k=2, step=2, to="0x440"),
        r"res0 overwrites opd0: \d+ bytes in 0x440 to ",
    ),
    "a product beside its left matrix, and over it": (
        PRODUCT.format(to="0x440"),
        PRODUCT.format(to="0x400"),
        r"res0 overwrites opd0: 32 bytes in 0x400 to 0x41f of lane 0",
    ),
    "a convolution beside its input, and over it": (
        CONV.format(to="0x480"),
        CONV.format(to="0x400"),
        r"res0 overwrites opd0: 72 bytes in 0x400 to 0x447 of lane 0",
    ),
    "one lane to many at the same place, and at another": (
        LANES.format(how="lane_broadcast", c=60, to=0x400),
        LANES.format(how="lane_broadcast", c=60, to=0x440),
        r"res0 overwrites opd0: 64 bytes in 0x440 to 0x47f of lane 0",
    ),
    "lanes to others, and to the same ones": (
        LANES.format(how="lane_copy", c=4, to=(4 << 18) + 0x440),
        LANES.format(how="lane_copy", c=4, to=(3 << 18) + 0x440),
        r"res0 overwrites opd0: 64 bytes in 0x440 to 0x47f of lane 3",
    ),
    "an exchange of lanes and columns beside its operand, and in place": (
        TURN.format(to="0x600"),
        TURN.format(to="0x400"),
        r"res0 overwrites opd0: ",
    ),
    "a lookup over its indices, and over its table": (
        TABLE.format(to="0x800", at="0x800"),
        TABLE.format(to="0x4c0", at="0x800"),
        r"res0 overwrites opd0: 64 bytes in 0x4c0 to 0x4ff",
    ),
    "rows between the source's, and into them": (
        LINE.format(to="0x100000100", step=128),
        LINE.format(to="0x1000000f0", step=128),
        r"GDMA command 1 .*dst overwrites src: 256 bytes of DDR from 0x100000000 on are both",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_overwritten_operand(name: str) -> None:
    right, wrong, pattern = CASES[name]
    assert {finding.fault for finding in findings_of(right)} <= {Fault.UNWRITTEN}
    found = [str(f) for f in findings_of(wrong) if f.fault is Fault.OVERLAP]
    assert any(re.search(pattern, text) for text in found), found
