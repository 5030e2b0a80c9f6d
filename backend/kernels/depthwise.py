"""Convolutions with one filter per channel, on the pooling unit.

docs/hardware/instructions.md#spord: products and sums are rounded to the element type, so
an f16 layer accumulates in f16, as the chip does.
"""

from xdsl_tpu.backend.emitter import Emitter, Window
from xdsl_tpu.backend.kernels.channelwise import Sliding, Tile, stream
from xdsl_tpu.backend.kernels.clamp import Clamp
from xdsl_tpu.backend.kernels.conv_plan import Convolution
from xdsl_tpu.backend.kernels.support import KernelContext, LocalMemory
from xdsl_tpu.backend.kernels.tables import load_table, table_bytes
from xdsl_tpu.backend.tensor import GlobalTensor, LocalTensor, compact
from xdsl_tpu.dialects.errors import TpuError


def depthwise_layer(context: KernelContext, conv: Convolution, name: str) -> None:
    """Emit a convolution whose groups are its channels.

    The filter is (1, c, kh, kw), the bias (1, c, 1, 1) of the input's element type; both stay in
    local memory throughout. Raises TpuError when the bias has another type.
    """
    chip, emitter = context.chip, context.emitter
    c = conv.x.shape[1]
    kernel = (conv.rows.kernel, conv.columns.kernel)
    if conv.bias is not None and conv.bias.dtype is not conv.x.dtype:
        raise TpuError(
            f"{name}: the bias of a depthwise convolution must be {conv.x.dtype.label}, not "
            f"{conv.bias.dtype.label}: run --weight-reorder before generating code"
        )
    memory = context.memory()
    taps = kernel[0] * kernel[1]
    source = conv.weight.view((1, c, *kernel), (c * taps, taps, kernel[1], 1))
    weight = _table(emitter, memory, source)
    bias = None if conv.bias is None else _table(emitter, memory, conv.bias)

    def compute(
        tile: Tile, out: LocalTensor, x: LocalTensor, window: Window, scratch: LocalTensor
    ) -> None:
        parts = [
            compact(chip, table.at(g=tile.channels.start // chip.lanes), shape, table.dtype)
            for table, shape in (
                (weight, (1, tile.channels.size, *kernel)),
                (bias, (1, tile.channels.size, 1, 1)),
            )
            if table is not None
        ]
        depthwise_tile(emitter, out, x, parts, window, conv.clamp, scratch)

    layer = Sliding(conv.x, conv.out, conv.rows, conv.columns, conv.clamp.passes)
    stream(context, layer, compute, memory, name)


def depthwise_tile(
    emitter: Emitter,
    out: LocalTensor,
    x: LocalTensor,
    tables: list[LocalTensor],
    window: Window,
    clamp: Clamp,
    scratch: LocalTensor,
) -> None:
    """Filter and clamp tensors in local memory; `tables` are the filter and perhaps the bias."""
    weight, bias = tables[0], tables[1] if len(tables) > 1 else None
    clamp.apply(
        emitter, out, scratch, lambda target: emitter.depthwise(target, x, weight, window, bias)
    )


def _table(emitter: Emitter, memory: LocalMemory, source: GlobalTensor) -> LocalTensor:
    chip = emitter.chip
    _, c, h, w = source.shape
    size = table_bytes(chip.lanes, c, h * w, source.dtype.bytes, chip.eu_bytes)
    return load_table(emitter, memory, memory.take(size, chip.eu_bytes), source)
