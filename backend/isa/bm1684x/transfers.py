"""Families of the GDMA."""

from dataclasses import replace

from xdsl_tpu.backend.isa.codes import (
    DmaGeneral,
    DmaMatrix,
    DmaSys,
    DmaTensor,
    Only,
    Precision,
)
from xdsl_tpu.backend.isa.costs import (
    Broadcast,
    EvenRate,
    Free,
    MatrixCopy,
    TensorCopy,
)
from xdsl_tpu.backend.isa.instruction import (
    Described,
    Family,
    Operand,
    Place,
    Refusal,
    Shape,
)
from xdsl_tpu.backend.isa.terms import Fields, Figures, Term

FORMAT = "src_data_format"
SOURCE: Shape = ("src_nsize", "src_csize", "src_hsize", "src_wsize")
MASK_BITS = 64


def _mask(fields: Fields) -> int:
    return fields["localmem_mask_h32"] << 32 | fields["localmem_mask_l32"]


def _masked(fields: Fields, chip: Figures) -> bool:
    lanes = (1 << min(chip.lanes, MASK_BITS)) - 1
    return _mask(fields) & lanes != lanes


def _which_mask(fields: Fields, chip: Figures) -> str:
    mask = _mask(fields)
    return f"lane mask {mask:#x}: only transfers of all lanes have known operands"


_REFUSALS = (
    Refusal(_masked, _which_mask),
    Refusal(
        lambda fields, chip: bool(fields["decompress_enable"]),
        "how many bytes a compressed source has is not known",
    ),
)
_COMMON = "decompress_enable localmem_mask_l32 localmem_mask_h32"
_TARGET_SIZES = "dst_nsize dst_csize dst_hsize dst_wsize"


def _moves(
    *functions: DmaTensor | DmaMatrix | DmaGeneral | Only,
    operands: tuple[Operand, ...],
    also: str = "",
    idle: str = "",
) -> Described:
    """A transfer of plain elements from or to all lanes."""
    return Described(functions, operands, f"{_COMMON} {also}", idle=idle, refusals=_REFUSALS)


def _side(name: str, shape: Shape, place: Place = Place.ROW_STEPS) -> Operand:
    constant = "fill_constant_en" if name == "src" else ""
    return Operand(name, shape, FORMAT, place, writes=name == "dst", constant=constant)


# --- tensors --------------------------------------------------------------------------------------


def _target(axis: str) -> Term:
    """The size of the target of a copy, which reshapes unless both sides have one shape."""

    def size(fields: Fields, chip: Figures) -> int:
        return fields[f"{'src' if fields['nchw_copy'] else 'dst'}_{axis}size"]

    return size


_TURNED: Shape = ("src_nsize", "src_wsize", "src_hsize", "src_csize")
_TENSOR = (
    _moves(
        DmaTensor.COPY,
        operands=(
            _side("src", SOURCE, Place.STEPS),
            _side("dst", (_target("n"), _target("c"), _target("h"), _target("w")), Place.STEPS),
        ),
        also=f"constant_value nchw_copy {_TARGET_SIZES}",
    ),
    _moves(
        DmaTensor.TRANSPOSE_N_C,
        operands=(
            _side("src", SOURCE),
            _side("dst", ("src_csize", "src_nsize", "src_hsize", "src_wsize")),
        ),
        also="constant_value",
        idle=f"nchw_copy {_TARGET_SIZES}",
    ),
    _moves(
        DmaTensor.COLLECT,
        DmaTensor.DISTRIBUTE,
        operands=(_side("src", SOURCE), _side("dst", _TURNED)),
        also="constant_value",
    ),
    _moves(
        DmaTensor.BROADCAST,
        operands=(
            _side("src", ("src_nsize", 1, "src_hsize", "src_wsize")),
            _side("dst", ("src_nsize", "dst_csize", "src_hsize", "src_wsize")),
        ),
        also="constant_value src_csize",
        idle="dst_nsize dst_hsize dst_wsize",
    ),
)


def _moved(axis: str) -> Term:
    """A size of what is moved: only a constant has no source, unless both sides have one shape."""

    def size(fields: Fields, chip: Figures) -> int:
        has_source = not fields["fill_constant_en"] or fields["nchw_copy"]
        return fields[f"{'src' if has_source else 'dst'}_{axis}size"]

    return size


_ALL = EvenRate(tuple(map(_moved, "nchw")))

# --- the others -----------------------------------------------------------------------------------

_TO_LOCAL = "src_hsize src_wsize src_hstride dst_wsize dst_nstride dst_cstride"
_NOWHERE: Shape = (0, 0, 0, 0)  # their sizes follow from both sides together
_MATRIX = (_side("src", _NOWHERE, Place.MATRIX), _side("dst", _NOWHERE, Place.MATRIX))


def _channels(fields: Fields, chip: Figures) -> int:
    return max(fields["src_csize"], fields["index_csize"])


def _gathered_rows(fields: Fields, chip: Figures) -> int:
    return fields["src_hsize"] if fields["nchw_copy"] else fields["dst_hsize"]


def _by_index(rows: Term, target_rows: Term) -> tuple[Operand, Operand, Operand]:
    """Source, indices and target; which source rows a gather reads depends on the indices, so all
    of them count."""
    return (
        replace(_side("src", (1, "src_csize", "src_hsize", "src_wsize")), constant=""),
        replace(_side("index", (1, "index_csize", rows, 1)), type=Precision.I32),
        _side("dst", (1, _channels, target_rows, "src_wsize")),
    )


_GATHER = _by_index(_gathered_rows, _gathered_rows)
_SCATTER = _by_index("index_hsize", "dst_hsize")
_OF_RUNS = "constant_value stride_enable src_nstride src_hstride src_wstride"
_RUN: Shape = (1, 1, 1, "src_cstride")

FAMILIES = (
    Family(
        "DMA_tensor",
        DmaTensor,
        dict.fromkeys(DmaTensor, TensorCopy())
        | dict.fromkeys((DmaTensor.COLLECT, DmaTensor.DISTRIBUTE), _ALL)
        | {DmaTensor.BROADCAST: Broadcast()},
        "DMA_tensor",
        _TENSOR,
    ),
    Family(
        "DMA_matrix",
        DmaMatrix,
        {
            DmaMatrix.MATRIX_COPY: MatrixCopy(transposed=False),
            DmaMatrix.MATRIX_TRANSPOSE: MatrixCopy(transposed=True),
        },
        "DMA_matrix",
        (
            _moves(
                DmaMatrix.MATRIX_COPY,
                operands=_MATRIX,
                also=f"{_TO_LOCAL} src_nstride src_cstride dst_hsize dst_hstride",
                idle="stride_enable src_nsize src_csize dst_nsize dst_csize",
            ),
            _moves(
                DmaMatrix.MATRIX_TRANSPOSE,
                operands=_MATRIX,
                also=_TO_LOCAL,
                idle="stride_enable dst_nsize dst_csize",
            ),
        ),
    ),
    Family(
        "DMA_general",
        DmaGeneral,
        {
            DmaGeneral.LINEAR_COPY: EvenRate(("src_cstride",)),
            DmaGeneral.BROADCAST_TO_LANES: EvenRate(("src_cstride", "dst_csize")),
        },
        "DMA_general",
        (
            _moves(
                DmaGeneral.LINEAR_COPY,
                operands=(_side("src", _RUN, Place.RUN), _side("dst", _RUN, Place.RUN)),
                also=_OF_RUNS,
            ),
            _moves(
                DmaGeneral.BROADCAST_TO_LANES,
                operands=(
                    _side("src", _RUN, Place.RUN),
                    _side("dst", (1, "dst_csize", 1, "src_cstride"), Place.RUN),
                ),
                also=_OF_RUNS,
            ),
        ),
    ),
    Family(
        "DMA_cw_transpose",
        Only,
        _ALL,
        "DMA_cw_transpose",
        (
            _moves(
                Only.ONLY,
                operands=(_side("src", SOURCE), _side("dst", _TURNED)),
                also="constant_value",
                idle=_TARGET_SIZES,
            ),
        ),
    ),
    Family(
        "DMA_gather",
        Only,
        EvenRate((_channels, _gathered_rows, "src_wsize")),
        "DMA_gather",
        (
            _moves(
                Only.ONLY,
                operands=_GATHER,
                also="constant_value nchw_copy dst_hsize",
                idle="dst_csize dst_wsize index_hsize",
            ),
        ),
    ),
    # Rows that no index names keep their values, so the result is read as well.
    Family(
        "DMA_scatter",
        Only,
        EvenRate((_channels, "index_hsize", "src_wsize")),
        "DMA_scatter",
        (
            _moves(
                Only.ONLY,
                operands=(*_SCATTER[:2], replace(_SCATTER[2], writes=False), _SCATTER[2]),
                idle="constant_value dst_csize dst_wsize",
            ),
        ),
    ),
    Family("DMA_masked_select", Only, _ALL),
    Family("DMA_nonzero", Only, replace(_ALL, position_bytes=4)),
    Family(
        "DMA_sys",
        DmaSys,
        Free(),
        "sDMA_sys",
        (Described((DmaSys.END_OF_STREAM, DmaSys.NOP), ()),),
    ),
)
