"""`tpu.Conv2D` on 8-bit integers as a layer over DDR.

The coefficients stay in local memory while tiles of rows stream by: all of them when they leave
room enough, else those of some lane groups of output channels at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.clamp import Clamp
from xdsl_tpu.backend.kernels.conv import four, window_axes
from xdsl_tpu.backend.kernels.conv_plan import Area, Convolution, Step
from xdsl_tpu.backend.kernels.int8.coefficients import Coefficients, Filter, convolve, filter_of
from xdsl_tpu.backend.kernels.lanes import (
    MERGE_COLUMNS,
    MERGE_ROWS,
    load_lanes,
    tiles_rows,
    view_columns,
    window_of,
)
from xdsl_tpu.backend.kernels.support import KernelContext, LocalMemory, pipelined, where
from xdsl_tpu.backend.kernels.tiling import Axis, Piece, Turn, check_window, cut, steps_of
from xdsl_tpu.backend.kernels.transfer import WORD, fetch, put
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    align,
    aligned,
    aligned_bytes,
    ceil_div,
    compact,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel

FEWEST_TILES = 4
"""Tiles that an image is cut into if it is large, so that transfers and commands overlap."""

LARGE_BYTES = 65536


def conv2d(context: KernelContext, op: Operation) -> None:
    """Emit a quantised convolution with merged coefficients.

    Raises TpuError for other layouts of the filter, windows that no command can describe, groups
    that do not fill lane groups, and tensors whose smallest tile does not fit.
    """
    assert isinstance(op, tpu.Conv2DOp)
    rows, columns, merge = check(context, op)
    x, weight, out = (context.value(v) for v in (op.input, op.filter, op.output))
    x4, out4 = x.as4(four(x.shape)), out.as4(four(out.shape))
    filter_ = filter_of(op, x4.shape[1], out4.shape[1], weight.dtype, context.chip)
    size = filter_.layout.lane_bytes
    merged = weight.as4((1, filter_.layout.lanes, 1, size))
    row = filter_.layout.row
    oc, group = out4.shape[1], op.group.value.data
    if group > 1 and (oc // group) % context.chip.lanes:
        raise NoKernel(f"{where(op)}: {oc // group} channels of a group do not fill whole lanes")
    one_block = merged.view((1, oc, 1, row), (oc * row, row, row, 1))
    none = Clamp(False, -1.0)
    conv = Convolution(x4, one_block, None, out4, rows, columns, group, merge, none)
    _Layer(context, conv, filter_, merged, where(op)).emit()


def check(context: KernelContext, op: "tpu.Conv2DOp") -> tuple[Axis, Axis, int]:
    """How the window slides over rows and columns, and which taps are merged.

    Raises TpuError for element types that are not of 8 bits, and windows that no command can
    describe.
    """
    x, weight, out = (context.value(v) for v in (op.input, op.filter, op.output))
    if {x.dtype.bytes, weight.dtype.bytes, out.dtype.bytes} != {1}:
        kinds = f"{x.dtype.label} and {weight.dtype.label} to {out.dtype.label}"
        raise NoKernel(f"{where(op)}: there is no convolution of {kinds}")
    x4, out4 = x.as4(four(x.shape)), out.as4(four(out.shape))
    rows, columns = window_axes(op, x4.shape, out4.shape)
    merge = op.use_3ic_optimize.value.data & (MERGE_ROWS | MERGE_COLUMNS)
    _check(rows, columns, merge, where(op))
    return rows, columns, merge


def _check(rows: Axis, columns: Axis, merge: int, name: str) -> None:
    """Raise TpuError for windows that no command can describe."""
    if merge == MERGE_ROWS and tiles_rows(view_columns(columns, Piece(0, columns.out), False)):
        columns = replace(columns, stride=1)
    if merge & MERGE_ROWS:
        rows = replace(rows, stride=1)
    check_window((rows, columns), name)


@dataclass(frozen=True, slots=True)
class _Plan:
    """Lane groups of output channels whose coefficients are held, rows and columns of a tile."""

    places: int
    rows: int
    columns: int


class _Layer:
    """Pieces of the output channels, and for each the pipeline over tiles of the image."""

    def __init__(
        self,
        context: KernelContext,
        conv: Convolution,
        filter_: Filter,
        merged: GlobalTensor,
        name: str,
    ) -> None:
        self.context = context
        self.chip: Chip = context.chip
        self.emitter = context.emitter
        self.conv = conv
        self.filter = filter_
        self.merged = merged
        self.plan = self._choose(name)
        self.parts = Coefficients.merged(filter_, 0)
        self.x: list[int] = []
        self.out: list[int] = []
        self.total: list[int] = []

    def _choose(self, name: str) -> _Plan:
        places = self.filter.layout.places // self.conv.groups
        while places:
            for columns in steps_of(self.conv.columns.out):
                rows = steps_of(self.conv.rows.out)
                fitting = [
                    plan
                    for plan in (_Plan(places, step, columns) for step in rows)
                    if sum(self._bytes(plan)) <= self.chip.local_bytes
                ]
                if fitting:
                    return self._overlapping(fitting)
            places //= 2
        raise DoesNotFit(
            f"{name}: not even one row of {self.chip.lanes} channels fits local memory"
        )

    def _overlapping(self, fitting: list[_Plan]) -> _Plan:
        """The largest tile of which a large image has several."""
        conv = self.conv
        if conv.x.bytes + conv.out.bytes < LARGE_BYTES:
            return fitting[0]
        most = ceil_div(conv.rows.out, FEWEST_TILES)
        return next((plan for plan in fitting if plan.rows <= most), fitting[-1])

    def _bytes(self, plan: _Plan) -> tuple[int, int, int, int]:
        """Bytes per lane of coefficients, input tiles, output tiles and sums."""
        chip, layout = self.chip, self.filter.layout
        held = plan.places * (chip.eu_bytes + layout.row)
        held += 2 * chip.eu_bytes + align(plan.places * DType.I32.bytes, chip.eu_bytes)
        x = out = total = 0
        for step in self._steps(plan, 0, Piece(0, plan.places)):
            shape = step.x_shape(self.conv, chip)
            x = max(x, aligned_bytes(chip, shape, self.conv.x.dtype))
            shape = step.out_shape()
            out = max(out, aligned_bytes(chip, shape, self.conv.out.dtype))
            lanes = (1, chip.lanes, *shape[2:])
            total = max(total, aligned_bytes(chip, lanes, DType.I32))
        return held, 2 * x, 2 * out, 0 if chip.instructions.requantises else 2 * total

    def _steps(self, plan: _Plan, group: int, places: Piece) -> Iterator[Step]:
        conv, lanes = self.conv, self.chip.lanes
        start = places.start * lanes
        channels = Piece(start, min(places.end * lanes, conv.oc) - start)
        areas = [
            Area(Piece(image, 1), rows, columns)
            for image in range(conv.x.shape[0])
            for rows in cut(conv.rows.out, plan.rows)
            for columns in cut(conv.columns.out, plan.columns)
        ]
        for index, area in enumerate(areas):
            slot = index % 2
            turn = Turn(index, 0, Piece(0, 1), slot, 0, slot, True, False)
            yield Step(group, area, channels, turn)

    def emit(self) -> None:
        """Emit all pieces of all groups."""
        memory = self.context.memory()
        held, x, out, total = self._bytes(self.plan)
        base = memory.take(held)
        self.x, self.out, self.total = (
            [memory.take(size // 2) for _ in range(2)] for size in (x, out, total)
        )
        per_group = self.filter.layout.places // self.conv.groups
        for group in range(self.conv.groups):
            for places in cut(per_group, self.plan.places):
                whole = Piece(group * per_group + places.start, places.size)
                self.parts = self._load_parts(base, whole)
                steps = list(self._steps(self.plan, group, places))
                pipelined(steps, self._load, self._compute, self._store)

    def _load_parts(self, base: int, places: Piece) -> Coefficients:
        """Bring the coefficients of some places to `base`; all of them come in one transfer."""
        layout, chip = self.filter.layout, self.chip
        if places.size == layout.places:
            target = compact(chip, base, self.merged.shape, self.merged.dtype)
            fetch(self.emitter, target, self.merged)
            return Coefficients.merged(self.filter, base)
        memory = LocalMemory(chip, base)
        starts: list[int] = []
        word, between = DType.I32.bytes, layout.requant_step
        last = places.end == layout.places
        for offset, step, size in (
            (0, between, places.size * between - (between - layout.requant_bytes) * last),
            (layout.bias, word, places.size * word * layout.has_bias),
            (layout.filter, layout.row, places.size * layout.row),
        ):
            starts.append(memory.take(size, chip.eu_bytes))
            if size:
                # As words: sizes of a command have 16 bits, and all parts begin at multiples of 4.
                shape = (1, layout.lanes, 1, size // WORD.bytes)
                lane = layout.lane_bytes // WORD.bytes
                address = self.merged.address + offset + places.start * step
                source = GlobalTensor(address, shape, (layout.lanes * lane, lane, lane, 1), WORD)
                self.emitter.load(compact(chip, starts[-1], shape, WORD), source)
        return Coefficients(self.filter, starts[0], starts[1], starts[2], places.start)

    def _load(self, step: Step, slot: int) -> None:
        conv, chip = self.conv, self.chip
        target = self._x_tile(step, slot)
        load_lanes(self.emitter, target, step.x_source(conv, chip), *step.area.views(conv))

    def _x_tile(self, step: Step, slot: int) -> LocalTensor:
        shape = step.x_shape(self.conv, self.chip)
        return aligned(self.chip, self.x[slot], shape, self.conv.x.dtype)

    def _out_tile(self, step: Step, slot: int) -> LocalTensor:
        return aligned(self.chip, self.out[slot], step.out_shape(), self.conv.out.dtype)

    def _compute(self, step: Step, slot: int) -> None:
        chip, x, out = self.chip, self._x_tile(step, slot), self._out_tile(step, slot)
        window = window_of(*step.area.views(self.conv))
        first = step.group * self.conv.oc + step.oc.start
        for index, some in enumerate(cut(step.oc.size, chip.lanes)):
            shape = (1, some.size, *out.shape[2:])
            part = aligned(chip, out.at(g=index), shape, out.dtype)
            total = None
            if not chip.instructions.requantises:
                total = aligned(chip, self.total[index % 2], shape, DType.I32)
            channels = Piece(first + some.start, some.size)
            convolve(self.emitter, part, total, x, self.parts, channels, window)

    def _store(self, step: Step, slot: int) -> None:
        put(self.emitter, step.out_target(self.conv), self._out_tile(step, slot))
