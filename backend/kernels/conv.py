"""`tpu.Conv2D` as a layer over DDR: ordinary and grouped convolutions on the cube.

docs/hardware/instructions.md#sconv.
"""

from collections.abc import Iterator
from dataclasses import replace

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter, Window
from xdsl_tpu.backend.kernels.cells import (
    chunk_filters,
    chunk_window,
    chunks_of,
    gather_cells,
)
from xdsl_tpu.backend.kernels.clamp import Clamp, narrow
from xdsl_tpu.backend.kernels.conv_choice import Sizes, bias_bytes, choose_plan
from xdsl_tpu.backend.kernels.conv_plan import Convolution, Plan, Step
from xdsl_tpu.backend.kernels.lanes import MERGE_COLUMNS, MERGE_ROWS, load_lanes, window_of
from xdsl_tpu.backend.kernels.shares import parts_of, take
from xdsl_tpu.backend.kernels.support import KernelContext, LocalMemory, pipelined, where
from xdsl_tpu.backend.kernels.tables import load_table
from xdsl_tpu.backend.kernels.tiling import Axis, Piece, check_window
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    Shape4,
    aligned,
    ceil_div,
    compact,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import NoKernel, TpuError


def conv2d(context: KernelContext, op: Operation) -> None:
    """Emit a 1-D or 2-D convolution.

    Raises TpuError for what the unit cannot do: integer types, pads or inserted zeros above 15.
    """
    assert isinstance(op, tpu.Conv2DOp)
    conv = describe(context, op)
    plan = choose_plan(conv, context.chip, where(op))
    parts = () if conv.groups > 1 else parts_of(context, conv.oc, context.chip.lanes)
    some = [of_channels(conv, channels) for channels in parts]
    plans = [choose_plan(part, context.chip, where(op)) for part in some]
    if plans and all(one.blocks == plan.blocks for one in plans):
        take(context, parts)
        conv, plan = some[context.core], plans[context.core]
    layer = _Layer(context, conv, plan)
    layer.load_bias()
    pipelined(list(plan.steps(conv)), layer.load, layer.compute, layer.store)


def of_channels(conv: Convolution, channels: Piece) -> Convolution:
    """The convolution that makes some of the output channels; there is one group."""

    def window(tensor: GlobalTensor) -> GlobalTensor:
        n, _, h, w = tensor.shape
        return tensor.window((0, channels.start, 0, 0), (n, channels.size, h, w))

    bias = None if conv.bias is None else window(conv.bias)
    return replace(conv, weight=window(conv.weight), bias=bias, out=window(conv.out))


def describe(context: KernelContext, op: "tpu.Conv2DOp") -> Convolution:
    """The op's tensors and windows; 1-D convolutions become columns of width 1."""
    x, weight, out = (context.value(v) for v in (op.input, op.filter, op.output))
    bias = context.optional(op.bias)
    x4, out4 = x.as4(four(x.shape)), out.as4(four(out.shape))
    rows, columns = window_axes(op, x4.shape, out4.shape)
    if not x.dtype.is_float:
        raise NoKernel(f"{where(op)}: only f32, f16 and bf16 are supported")
    merge = op.use_3ic_optimize.value.data & (MERGE_ROWS | MERGE_COLUMNS)
    oc = out4.shape[1]
    bias4 = None if bias is None else bias.as4((1, oc, 1, 1))
    conv = Convolution(
        x4,
        weight.as4((1, oc, 1, weight.elements // oc)),
        bias4,
        out4,
        rows,
        columns,
        op.group.value.data,
        merge,
        Clamp.of(op.do_relu, op.relu_limit),
    )
    return _with_blocks(conv, context.chip, where(op))


def _with_blocks(conv: Convolution, chip: Chip, name: str) -> Convolution:
    """Split the filter rows into blocks of the cube's input channels."""
    cube = chip.cube_channels[conv.x.dtype.bytes]
    blocks = ceil_div(conv.ic * conv.taps, cube)
    width = conv.positions * cube
    oc = conv.out.shape[1]
    if conv.weight.shape[3] != blocks * width:
        raise TpuError(
            f"{name}: a filter row of {conv.weight.shape[3]} elements, {blocks * width} expected: "
            "run --weight-reorder before generating code"
        )
    strides = (oc * blocks * width, blocks * width, width, 1)
    weight = conv.weight.view((1, oc, blocks, width), strides)
    return replace(conv, weight=weight)


def four(shape: tuple[int, ...]) -> Shape4:
    """(n, c, h, w); a 1-D image is a column."""
    n, c, *spatial = (*shape, 1) if len(shape) == 3 else shape
    if len(spatial) != 2:
        raise TpuError(f"a tensor of shape {shape} where (n, c, h, w) is expected")
    return n, c, spatial[0], spatial[1]


def window_axes(op: "tpu.Conv2DOp", x: Shape4, out: Shape4) -> tuple[Axis, Axis]:
    """How the filter slides over the rows and columns of whole tensors (n, c, h, w)."""
    kernel, strides = ints(op.kernel_shape), ints(op.strides)
    pads = ints(op.pads)
    dilations = ints(op.dilations) if op.dilations is not None else (1,) * len(kernel)
    inserts = ints(op.inserts) if op.inserts is not None else (0,) * len(kernel)
    if len(kernel) == 1:
        kernel, strides, dilations = (*kernel, 1), (*strides, 1), (*dilations, 1)
        pads, inserts = (pads[0], 0, pads[1], 0), (*inserts, 0)
    windows = zip(kernel, strides, pads[:2], pads[2:], dilations, inserts, strict=True)
    axes = tuple(Axis(x[2 + i], out[2 + i], *window) for i, window in enumerate(windows))
    check_window(axes, where(op), far=True)
    return axes[0], axes[1]


class _Layer:
    """The buffers of a plan, and the stages of the pipeline over its steps."""

    def __init__(self, context: KernelContext, conv: Convolution, plan: Plan) -> None:
        self.chip: Chip = context.chip
        self.emitter: Emitter = context.emitter
        self.conv = conv
        memory, sizes, slots = context.memory(), Sizes.of(conv, plan, self.chip), plan.slots(conv)
        self._biases = memory.take(bias_bytes(conv, self.chip))
        self._free = LocalMemory(self.chip, memory.next)
        self._inputs, self._weights, self._results = (
            [memory.take(size) for _ in range(count)]
            for count, size in zip(slots, (sizes.x, sizes.weight, sizes.out), strict=True)
        )
        self._scratch = memory.take(sizes.scratch)
        self._accumulator, self._cells = memory.take(sizes.accumulator), memory.take(sizes.cells)

    def load_bias(self) -> None:
        """Bring the biases of all groups to local memory."""
        conv = self.conv
        if conv.bias is None:
            return
        for group in range(conv.groups):
            source = conv.bias.window((0, group * conv.oc, 0, 0), (1, conv.oc, 1, 1))
            load_table(self.emitter, self._free, self._bias(group, 0, conv.oc).address, source)

    def _bias(self, group: int, start: int, size: int) -> LocalTensor:
        first = group * (bias_bytes(self.conv, self.chip) // self.conv.groups)
        address = self._biases + first + start // self.chip.lanes * DType.F32.bytes
        return compact(self.chip, address, (1, size, 1, 1), DType.F32)

    def _x(self, step: Step) -> LocalTensor:
        address = self._inputs[step.turn.left_slot % len(self._inputs)]
        shape = step.x_shape(self.conv, self.chip)
        return aligned(self.chip, address, shape, self.conv.x.dtype)

    def _weight(self, step: Step) -> LocalTensor:
        address = self._weights[step.turn.right_slot % len(self._weights)]
        return compact(self.chip, address, step.weight_shape(self.conv), self.conv.weight.dtype)

    def _out(self, step: Step) -> LocalTensor:
        address = self._results[step.turn.out_slot % len(self._results)]
        return aligned(self.chip, address, step.out_shape(), self.conv.out.dtype)

    def load(self, step: Step, _: int) -> None:
        """Stage 1: the operands that changed."""
        conv = self.conv
        if step.turn.load_right and conv.far:
            for _operand, local, ddr in self._chunk_filters(step):
                self.emitter.load(local, ddr)
        elif step.turn.load_right:
            fetch(self.emitter, self._weight(step), step.weight_source(conv))
        if step.turn.load_left:
            source = step.x_source(conv, self.chip)
            load_lanes(self.emitter, self._x(step), source, *step.area.views(conv))

    def compute(self, step: Step, _: int) -> None:
        """Stage 2: convolve, and clamp what is complete."""
        conv, out = self.conv, self._out(step)
        window = window_of(*step.area.views(conv))
        bias = None
        if conv.bias is not None and step.turn.first:
            bias = self._bias(step.group, step.oc.start, step.oc.size)
        scratch = aligned(self.chip, self._scratch, out.shape, out.dtype)
        if step.turn.first and step.turn.last and not conv.far:
            x, weight = self._x(step), self._weight(step)
            conv_tile(self.emitter, out, x, weight, bias, window, conv.clamp, scratch)
            return
        total = aligned(self.chip, self._accumulator, out.shape, DType.F32)
        if conv.far:
            self._add_chunks(step, total, bias)
        else:
            x, weight = self._x(step), self._weight(step)
            self.emitter.conv(total, x, weight, window, bias, accumulate=not step.turn.first)
        if step.turn.last:
            conv.clamp.apply(
                self.emitter, out, scratch, lambda target: narrow(self.emitter, target, total)
            )

    def _add_chunks(self, step: Step, total: LocalTensor, bias: LocalTensor | None) -> None:
        """Add up the chunks of a kernel whose stride no command can say."""
        views = step.area.views(self.conv)
        x, out = self._x(step), (total.shape[2], total.shape[3])
        first = step.turn.first
        filters = self._chunk_filters(step)
        for chunk, (weight, _, _) in zip(chunks_of(*views), filters, strict=True):
            cells = gather_cells(self.emitter, self._cells, x, chunk, views, out)
            window = chunk_window(chunk, *views)
            self.emitter.conv(total, cells, weight, window, bias, accumulate=not first)
            first, bias = False, None

    def _chunk_filters(self, step: Step) -> Iterator[tuple[LocalTensor, LocalTensor, GlobalTensor]]:
        rows, columns = step.area.views(self.conv)
        address = self._weights[step.turn.right_slot % len(self._weights)]
        source = step.weight_source(self.conv)
        return chunk_filters(self.emitter, address, source, chunks_of(rows, columns), columns)

    def store(self, step: Step, _: int) -> None:
        """Stage 3: the finished output tile."""
        if step.turn.last:
            put(self.emitter, step.out_target(self.conv), self._out(step))


def conv_tile(
    emitter: Emitter,
    out: LocalTensor,
    x: LocalTensor,
    weight: LocalTensor,
    bias: LocalTensor | None,
    window: Window,
    clamp: Clamp,
    scratch: LocalTensor | None,
) -> None:
    """Convolve and clamp tensors in local memory; `scratch` is needed by an active clamp."""
    relu, rest = clamp.after_conv(emitter)

    def produce(target: LocalTensor) -> None:
        emitter.conv(target, x, weight, window, bias, relu=relu)

    rest.apply(emitter, out, scratch, produce)
