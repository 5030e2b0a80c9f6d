"""Names of the numbers in commands: element types, layouts, and the functions of every family.

The numbers are those of docs/hardware/instructions.md; an instruction set says which functions its
forms have. Members are plain integers, so a field may be compared with them and hold them.
"""

from enum import IntEnum


class Precision(IntEnum):
    """Element types (`*_prec`, `*_data_format`)."""

    I8 = 0
    F16 = 1
    F32 = 2
    I16 = 3
    I32 = 4
    BF16 = 5
    I4 = 6


FLOATS = frozenset((Precision.F16, Precision.F32, Precision.BF16))
INTEGERS = frozenset((Precision.I8, Precision.I16, Precision.I32))
"""Those of whole bytes."""

ELEMENT_BYTES: dict[int, int] = {
    Precision.I8: 1,
    Precision.F16: 2,
    Precision.F32: 4,
    Precision.I16: 2,
    Precision.I32: 4,
    Precision.BF16: 2,
}
"""Bytes of an element; of int4 two lie in a byte."""


class LayoutCode(IntEnum):
    """How an operand in local memory lies (`*_str`)."""

    ALIGNED = 0  # rows of h*w padded to the EU width
    COMPACT = 1  # no padding
    OFFSET = 2
    FREE = 3  # as the stride fields say
    LANES = 4  # one table for all channel groups of a lane


class AR(IntEnum):
    """Element by element."""

    MUL = 0
    NOT = 1
    ADD = 2
    SUB = 3
    MAX = 4
    MIN = 5
    LOGIC_SHIFT = 6
    AND = 7
    OR = 8
    XOR = 9
    SELECT_GREATER = 10
    SELECT_EQUAL = 11
    DIV = 12
    SELECT_LESS = 13
    DATA_CONVERT = 14
    ADD_SATURATE = 15
    SUB_SATURATE = 16
    CLAMP = 17
    MAC = 18
    COPY = 19
    MUL_SATURATE = 20
    ARITH_SHIFT = 21
    ROTATE_SHIFT = 22
    MUL_DHR = 23
    EU_INDEX_GEN = 24
    LANE_INDEX_GEN = 25
    ABS = 26
    FSUB_ABS = 27
    COPY_MULTI_BATCH = 28
    GET_FIRST_ONE = 29
    GET_FIRST_ZERO = 30


class CMP(IntEnum):
    """Compare and select."""

    GT_AND_SELECT_GT = 22
    SELECT_GT = 23
    SELECT_EQ = 24
    LT_AND_SELECT_LT = 25
    SELECT_LT = 26


class CONV(IntEnum):
    """Convolutions; `wrq` requantise in the command."""

    CONV_NORMAL = 0
    CONV_WRQ = 1
    CONV_WRQ_RELU = 2


class LIN(IntEnum):
    """One tensor and values per channel."""

    MAC = 1
    SQUARE_SUM = 20
    SQUARE_DIFF = 21


class MM(IntEnum):
    """Products of matrices in column blocks."""

    MM_NORMAL = 1
    MM_WRQ = 2
    MM_WRQ_RELU = 3


class MM2(IntEnum):
    """Products of matrices, one row a lane."""

    MM2_NN = 4
    MM2_NT = 5
    MM2_TT = 6


class PorD(IntEnum):
    """Pools and depthwise convolutions."""

    DEPTHWISE = 0
    AVG_POOL = 1
    DEPTHWISE_RELU = 2
    MAX_POOL = 4
    ROI_DEPTHWISE = 5
    ROI_AVG_POOL = 6
    ROI_MAX_POOL = 7


class RQ_DQ(IntEnum):
    """To integers and back: 0 by a float scale and offset, 1 by multiplier and shift."""

    RQ0 = 0
    RQ1 = 1
    RQ2 = 2
    DQ0 = 3
    DQ1 = 4
    DQ2 = 5


class SFU(IntEnum):
    """Polynomials, exponents, roots."""

    TAYLOR_4X = 12
    TAYLOR = 13
    NORMALIZE = 15
    RSQRT = 17


class SG(IntEnum):
    """Gathers and scatters inside lanes."""

    PL_GATHER_D1COOR = 0
    PL_GATHER_D2COOR = 1
    PL_GATHER_REC = 2
    PL_SCATTER_D1COOR = 3
    PL_SCATTER_D2COOR = 4
    PE_S_GATHER_D1COOR = 5
    PE_S_SCATTER_D1COOR = 6
    PE_M_GATHER_D1COOR = 7
    PE_S_MASK_SELECT = 8
    PE_S_NONZERO = 9
    PE_S_SCATTER_PP_D1COOR = 10
    PL_GATHER_PERW = 11
    PL_SCATTER_PERW = 12
    PE_S_GATHER_HZD = 13
    PE_S_SCATTER_HZD = 14
    PE_S_MASK_SELECT_HZD = 15
    PE_S_NONZERO_HZD = 16


class SGL(IntEnum):
    """Gathers and scatters of lines."""

    PE_S_GATHER_LINE = 17
    PE_S_SCATTER_LINE = 18


class TransBc(IntEnum):
    """Transpositions, and copies between lanes."""

    CW_TRANSPOSE = 0
    WC_TRANSPOSE = 1
    LANE_COPY = 2
    LANE_BROADCAST = 3
    STATIC_BROADCAST = 4
    STATIC_DISTRIBUTE = 5


class VC(IntEnum):
    """All pairs of two vectors' elements."""

    MUL = 0
    ADD = 2
    SUB = 3
    MAX = 4
    MIN = 5
    AND = 7
    OR = 8
    XOR = 9
    SELECT_GT = 10
    SELECT_EQ = 11
    DIV = 12
    SELECT_LT = 13
    ADD_SATURATE = 15
    SUB_SATURATE = 16
    MUL_SATURATE = 20
    MUL_DHR = 23


class SYSID(IntEnum):
    """Markers of the TIU's queue."""

    INTR_BARRIER = 0
    SPB = 1
    SWR = 2
    SWR_FROM_LMEM = 3
    SWR_COLLECT_FROM_LMEM = 4
    DATA_BARRIER = 5
    NOP = 30
    END = 31


class SYS(IntEnum):
    """Markers of the TIU's queue where cores send each other messages."""

    SPB = 1
    SWR = 2
    SWR_FROM_LMEM = 3
    SWR_COLLECT_FROM_LMEM = 4
    SEND = 8
    WAIT = 9
    NOP = 30
    END = 31


class DmaTensor(IntEnum):
    """Transfers of strided tensors."""

    COPY = 0
    TRANSPOSE_N_C = 1
    COLLECT = 2  # c and w change places, local memory to DDR
    BROADCAST = 3  # one channel to many lanes
    DISTRIBUTE = 4  # c and w change places, DDR to local memory
    FOUR_BANK_COPY = 5
    FOUR_BANK_BROADCAST = 6


class DmaMatrix(IntEnum):
    """Transfers between rows in DDR and column blocks in local memory."""

    MATRIX_COPY = 0
    MATRIX_TRANSPOSE = 1


class DmaGeneral(IntEnum):
    """Transfers of elements in a row."""

    LINEAR_COPY = 0
    BROADCAST_TO_LANES = 1


class DmaSys(IntEnum):
    """Markers of the GDMA's queue."""

    END_OF_STREAM = 0
    NOP = 1


class DmaMessages(IntEnum):
    """Markers of the GDMA's queue where cores send each other messages."""

    END_OF_STREAM = 0
    NOP = 1
    WRITE_REGISTER = 2
    SEND = 3
    WAIT = 4


class Only(IntEnum):
    """The function of a family that has one."""

    ONLY = 0


class Rounding(IntEnum):
    """Rounding modes of casts and shifts (`opd2_n_str`)."""

    HALF_EVEN = 0
    HALF_AWAY = 1
    TOWARD_ZERO = 2
    FLOOR = 3
    CEIL = 4
    HALF_UP = 5
    HALF_DOWN = 6
