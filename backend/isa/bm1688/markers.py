"""What only the queues see: ends, messages between engines and cores, registers."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from xdsl_tpu.backend.isa.codes import SYS, DmaMessages, Only
from xdsl_tpu.backend.isa.costs import Free
from xdsl_tpu.backend.isa.instruction import Described, Family

_REGISTERS = "reg_idx0 reg_idx1 reg_idx2 imm0 imm1"


def families(base: Mapping[str, Family]) -> Iterator[Family]:
    """SYSID, DMA_sys, and SYS_TR_ACC, which writes three registers."""
    yield replace(
        base["SYSID"],
        functions=SYS,
        described=(
            Described((SYS.NOP, SYS.END), ()),
            Described((SYS.SEND, SYS.WAIT), (), also="imm"),
        ),
    )
    yield replace(
        base["DMA_sys"],
        functions=DmaMessages,
        described=(
            Described((DmaMessages.END_OF_STREAM, DmaMessages.NOP), ()),
            Described((DmaMessages.SEND, DmaMessages.WAIT), (), also="constant_value"),
        ),
    )
    registers = Described((Only.ONLY,), (), also=_REGISTERS)
    yield Family("SYS_TR_ACC", Only, Free(), "SYS_TR_ACC", (registers,))
