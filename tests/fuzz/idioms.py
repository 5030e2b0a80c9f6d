"""What networks are made of, in several spellings: chains of steps that a compiler recognises.

Single ops drawn at random hardly ever make an attention or a normalisation, so these are drawn
whole, with what exporters vary: order of operands and axes, where a scale stands, constants that
spread, how a tensor is taken apart.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

from hypothesis import strategies as st
from tests.fuzz.recipes import Shape, Step, Weight

Operand: TypeAlias = "int | Weight | None"


@dataclass
class Graph:
    """A graph that grows: shapes of all tensors, the inputs first, and the steps."""

    shapes: list[Shape]
    steps: list[Step] = field(default_factory=list[Step])

    def add(
        self, op: str, given: tuple[Operand, ...], shape: Shape, result: int = 0, **attributes: Any
    ) -> int:
        """A step; the number of its result."""
        self.steps.append(Step(op, given, shape, attributes, result))
        self.shapes.append(shape)
        return len(self.shapes) - 1

    def reshape(self, at: int, *shape: int) -> int:
        """The tensor in another shape."""
        return self.add("Reshape", (at, ints(*shape)), shape)

    def transpose(self, at: int, *order: int) -> int:
        """The tensor with its axes in this order."""
        shape = tuple(self.shapes[at][axis] for axis in order)
        return self.add("Transpose", (at,), shape, perm=list(order))

    def linear(self, at: int, columns: int, bias: bool = True) -> int:
        """A product with a weight, and a bias."""
        shape = (*self.shapes[at][:-1], columns)
        made = self.add("MatMul", (at, Weight((self.shapes[at][-1], columns))), shape)
        return self.add("Add", (Weight((columns,)), made), shape) if bias else made

    def product(self, one: int, other: int) -> int:
        """The product of two tensors whose leading axes agree."""
        shape = (*self.shapes[one][:-1], self.shapes[other][-1])
        return self.add("MatMul", (one, other), shape)

    def slice(self, at: int, axis: int, start: int, end: int) -> int:
        """A part along an axis."""
        shape = list(self.shapes[at])
        shape[axis] = end - start
        given = (at, ints(start), ints(end), ints(axis))
        return self.add("Slice", given, tuple(shape))

    def scaled(self, draw: st.DrawFn, at: int, by: float) -> int:
        """Times a number, or divided by its inverse."""
        if draw(st.booleans()):
            return self.add("Mul", (at, number(by)), self.shapes[at])
        return self.add("Div", (at, number(1 / by)), self.shapes[at])


def ints(*values: int) -> Weight:
    """A vector of integers."""
    return Weight((len(values),), "ints", values)


def number(value: float) -> Weight:
    """A scalar."""
    return Weight((), "floats", (value,))


Idiom: TypeAlias = Callable[[st.DrawFn, Graph, int], int | None]
"""Adds its steps on a tensor and gives the last; None when the tensor does not suit it."""


def _choice(draw: st.DrawFn, *values: Any) -> Any:
    return draw(st.sampled_from(values))


def _whole(draw: st.DrawFn, low: int, high: int) -> int:
    return draw(st.integers(low, high))


def _divisor(draw: st.DrawFn, size: int, most: int = 8) -> int:
    return _choice(draw, *(n for n in range(1, min(size, most) + 1) if size % n == 0))


def _thirds(draw: st.DrawFn, graph: Graph, at: int, heads: int, size: int) -> list[int]:
    """q, k and v as (batch, heads, tokens, size), taken out of one product or of three."""
    batch, tokens, _ = graph.shapes[at]
    spelling = _choice(draw, "three", "sections", "heads first", "interleaved")
    if spelling == "three":
        each = [graph.linear(at, heads * size, draw(st.booleans())) for _ in range(3)]
        split = [graph.reshape(one, batch, tokens, heads, size) for one in each]
        return [graph.transpose(one, 0, 2, 1, 3) for one in split]
    whole = graph.linear(at, 3 * heads * size, draw(st.booleans()))
    if spelling == "heads first":
        split = graph.reshape(whole, batch, tokens, heads, 3 * size)
        turned = graph.transpose(split, 0, 2, 1, 3)
        return [graph.slice(turned, 3, n * size, (n + 1) * size) for n in range(3)]
    dims, order = {
        "sections": ((3, heads, size), (2, 0, 3, 1, 4)),
        "interleaved": ((heads, size, 3), (4, 0, 2, 1, 3)),
    }[spelling]
    turned = graph.transpose(graph.reshape(whole, batch, tokens, *dims), *order)
    shape = (batch, heads, tokens, size)
    if draw(st.booleans()):
        picked = Weight((), "ints", (0,)), Weight((), "ints", (1,)), Weight((), "ints", (2,))
        return [graph.add("Gather", (turned, one), shape, axis=0) for one in picked]
    parts = [graph.slice(turned, 0, n, n + 1) for n in range(3)]
    return [graph.add("Squeeze", (part, ints(0)), shape) for part in parts]


def attention(draw: st.DrawFn, graph: Graph, at: int) -> int | None:
    """Of tokens to each other, or of one tensor's tokens to another's."""
    if len(graph.shapes[at]) != 3:
        return None
    batch, tokens, channels = graph.shapes[at]
    heads, size = _choice(draw, 1, 2, 3), _choice(draw, 2, 4, 8, 16)
    q, k, v = _thirds(draw, graph, at, heads, size)
    where = _choice(draw, "q", "k", "scores", "none")
    if where == "q":
        q = graph.scaled(draw, q, size**-0.5)
    if where == "k":
        k = graph.scaled(draw, k, size**-0.5)
    scores = graph.product(q, graph.transpose(k, 0, 1, 3, 2))
    if where == "scores":
        scores = graph.scaled(draw, scores, size**-0.5)
    shape = graph.shapes[scores]
    if draw(st.booleans()):
        dims = _choice(draw, (tokens, tokens), (1, 1, tokens), (heads, tokens, tokens))
        scores = graph.add("Add", (scores, Weight(dims)), shape)
    scores = graph.add("Softmax", (scores,), shape, axis=_choice(draw, -1, 3))
    out = graph.transpose(graph.product(scores, v), 0, 2, 1, 3)
    out = graph.reshape(out, batch, tokens, heads * size)
    if draw(st.booleans()):
        out = graph.linear(out, channels)
        return graph.add("Add", (at, out), graph.shapes[at])
    return out


def channel_attention(draw: st.DrawFn, graph: Graph, at: int) -> int | None:
    """Scores between the channels of a feature map, of normalised rows or not."""
    shape = graph.shapes[at]
    if len(shape) != 4 or shape[1] > 16:
        return None
    batch, channels, height, width = shape
    rows = graph.reshape(at, batch, channels, height * width)
    if draw(st.booleans()):
        rows = _unit_rows(draw, graph, rows)
    scores = graph.product(rows, graph.transpose(rows, 0, 2, 1))
    scores = graph.add("Softmax", (scores,), graph.shapes[scores], axis=-1)
    return graph.reshape(graph.product(scores, rows), *shape)


def _unit_rows(draw: st.DrawFn, graph: Graph, at: int) -> int:
    shape = graph.shapes[at]
    dims = (*shape[:-1], 1)
    norm = graph.add("ReduceL2", (at,), dims, axes=[-1], keepdims=1)
    norm = graph.add("Clip", (norm, number(1e-2)), dims)
    if draw(st.booleans()):
        norm = graph.add("Expand", (norm, ints(*shape)), shape)
    return graph.add("Div", (at, norm), shape)


def row_norm(draw: st.DrawFn, graph: Graph, at: int) -> int | None:
    """Layer, RMS or L2 normalisation of rows, written out."""
    shape = graph.shapes[at]
    if shape[-1] < 2:
        return None
    kind = _choice(draw, "layer", "rms", "unit")
    if kind == "unit":
        return _unit_rows(draw, graph, at)
    dims = (*shape[:-1], 1)
    centred = at
    if kind == "layer":
        mean = graph.add("ReduceMean", (at,), dims, axes=[-1], keepdims=1)
        centred = graph.add("Sub", (at, mean), shape)
    squares = (
        graph.add("Pow", (centred, number(2.0)), shape)
        if draw(st.booleans())
        else graph.add("Mul", (centred, centred), shape)
    )
    mean = graph.add("ReduceMean", (squares,), dims, axes=[-1], keepdims=1)
    root = graph.add("Sqrt", (graph.add("Add", (mean, number(1e-2)), dims),), dims)
    if draw(st.booleans()):
        made = graph.add("Div", (centred, root), shape)
    else:
        made = graph.add("Mul", (centred, graph.add("Reciprocal", (root,), dims)), shape)
    made = graph.add("Mul", (Weight(shape[-1:], "positive"), made), shape)
    return graph.add("Add", (made, Weight(shape[-1:])), shape) if kind == "layer" else made


def group_norm(draw: st.DrawFn, graph: Graph, at: int) -> int | None:
    """As PyTorch exports it: an instance normalisation between two reshapes."""
    shape = graph.shapes[at]
    if len(shape) not in (3, 4) or prod(shape[2:]) < 2:
        return None
    groups = _divisor(draw, shape[1])
    made = graph.reshape(at, shape[0], groups, prod(shape[1:]) // groups)
    given = (made, Weight((groups,), "floats", (1.0,) * groups),
             Weight((groups,), "floats", (0.0,) * groups))  # fmt: skip
    made = graph.add("InstanceNormalization", given, graph.shapes[made], epsilon=1e-3)
    made = graph.reshape(made, *shape)
    dims = (shape[1], *(1 for _ in shape[2:]))
    made = graph.add("Mul", (made, Weight(dims, "positive")), shape)
    return graph.add("Add", (made, Weight(dims)), shape)


def activation(draw: st.DrawFn, graph: Graph, at: int) -> int | None:
    """SiLU, GELU by erf or by tanh, and Mish, written out."""
    shape = graph.shapes[at]
    kind = _choice(draw, "silu", "erf", "tanh", "mish", "hard")
    if kind == "silu":
        return graph.add("Mul", (at, graph.add("Sigmoid", (at,), shape)), shape)
    if kind == "mish":
        soft = graph.add("Softplus", (at,), shape)
        return graph.add("Mul", (at, graph.add("Tanh", (soft,), shape)), shape)
    if kind == "hard":
        shifted = graph.add("Add", (at, number(3.0)), shape)
        cut = graph.add("Clip", (shifted, number(0.0), number(6.0)), shape)
        return graph.add("Div", (graph.add("Mul", (at, cut), shape), number(6.0)), shape)
    if kind == "erf":
        inner = graph.add("Erf", (graph.add("Div", (at, number(2**0.5)), shape),), shape)
    else:
        cube = graph.add(
            "Mul", (graph.add("Pow", (at, number(3.0)), shape), number(0.044715)), shape
        )
        inner = graph.add("Mul", (graph.add("Add", (at, cube), shape), number(0.7978846)), shape)
        inner = graph.add("Tanh", (inner,), shape)
    more = graph.add("Add", (inner, number(1.0)), shape)
    half = graph.add("Mul", (at, number(0.5)), shape)
    return graph.add("Mul", (half, more), shape)


def excitation(draw: st.DrawFn, graph: Graph, at: int) -> int | None:
    """Channels scaled by what their means say."""
    shape = graph.shapes[at]
    if len(shape) != 4:
        return None
    batch, channels = shape[:2]
    dims = (batch, channels, 1, 1)
    if draw(st.booleans()):
        mean = graph.add("GlobalAveragePool", (at,), dims)
    else:
        mean = graph.add("ReduceMean", (at,), dims, axes=[2, 3], keepdims=1)
    inner = _whole(draw, 1, 6)
    given = (mean, Weight((inner, channels, 1, 1)), Weight((inner,)))
    made = graph.add("Conv", given, (batch, inner, 1, 1), kernel_shape=[1, 1])
    made = graph.add("Relu", (made,), (batch, inner, 1, 1))
    given = (made, Weight((channels, inner, 1, 1)), Weight((channels,)))
    made = graph.add("Conv", given, dims, kernel_shape=[1, 1])
    gate = graph.add(_choice(draw, "Sigmoid", "HardSigmoid"), (made,), dims)
    return graph.add("Mul", (at, gate) if draw(st.booleans()) else (gate, at), shape)


def inverted_residual(draw: st.DrawFn, graph: Graph, at: int) -> int | None:
    """Channels widened, a depthwise convolution, narrowed and added."""
    shape = graph.shapes[at]
    if len(shape) != 4 or prod(shape) > 1500:
        return None
    batch, channels, height, width = shape
    wide, size = channels * _whole(draw, 1, 4), _choice(draw, 1, 3, 5)
    inner = (batch, wide, height, width)
    made = graph.add("Conv", (at, Weight((wide, channels, 1, 1)), Weight((wide,))), inner)
    made = graph.add("Clip", (made, number(0.0), number(6.0)), inner)
    pad = size // 2
    given = (made, Weight((wide, 1, size, size)), Weight((wide,)))
    made = graph.add("Conv", given, inner, group=wide, pads=[pad] * 4, kernel_shape=[size] * 2)
    made = graph.add("Conv", (made, Weight((channels, wide, 1, 1))), shape)
    return graph.add("Add", (made, at), shape)


def shuffle(draw: st.DrawFn, graph: Graph, at: int) -> int | None:
    """Channels of groups dealt out."""
    shape = graph.shapes[at]
    if len(shape) != 4:
        return None
    batch, channels, height, width = shape
    groups = _divisor(draw, channels)
    made = graph.reshape(at, batch, groups, channels // groups, height, width)
    return graph.reshape(graph.transpose(made, 0, 2, 1, 3, 4), *shape)


def windows(draw: st.DrawFn, graph: Graph, at: int) -> int | None:
    """A feature map cut into windows whose tokens a product mixes, and put together again."""
    shape = graph.shapes[at]
    if len(shape) != 4:
        return None
    batch, channels, height, width = shape
    tall, wide = _divisor(draw, height), _divisor(draw, width)
    rows, columns = height // tall, width // wide
    made = graph.transpose(at, 0, 2, 3, 1)
    made = graph.reshape(made, batch, rows, tall, columns, wide, channels)
    made = graph.transpose(made, 0, 1, 3, 2, 4, 5)
    made = graph.reshape(made, batch * rows * columns, tall * wide, channels)
    if draw(st.booleans()):
        scores = graph.product(made, graph.transpose(made, 0, 2, 1))
        scores = graph.add("Softmax", (scores,), graph.shapes[scores], axis=-1)
        made = graph.product(scores, made)
    else:
        made = graph.linear(made, channels)
    made = graph.reshape(made, batch, rows, columns, tall, wide, channels)
    made = graph.transpose(made, 0, 1, 3, 2, 4, 5)
    made = graph.reshape(made, batch, height, width, channels)
    return graph.transpose(made, 0, 3, 1, 2) if draw(st.booleans()) else made


def rotary(draw: st.DrawFn, graph: Graph, at: int) -> int | None:
    """Halves of rows turned by constant angles, one of them negated."""
    shape = graph.shapes[at]
    if len(shape) < 3 or shape[-1] % 2:
        return None
    half, last = shape[-1] // 2, len(shape) - 1
    first, second = graph.slice(at, last, 0, half), graph.slice(at, last, half, shape[-1])
    negated = graph.add("Neg", (second,), graph.shapes[second])
    turned = graph.add("Concat", (negated, first), shape, axis=-1)
    one = graph.add("Mul", (at, Weight(shape[-2:])), shape)
    other = graph.add("Mul", (turned, Weight(shape[-2:])), shape)
    return graph.add("Add", (one, other), shape)


def gate(draw: st.DrawFn, graph: Graph, at: int) -> int | None:
    """Halves along an axis, one of them a gate of the other."""
    shape = graph.shapes[at]
    axis = _whole(draw, 0, len(shape) - 1)
    if shape[axis] % 2:
        return None
    half = shape[axis] // 2
    if draw(st.booleans()):
        dims = (*shape[:axis], half, *shape[axis + 1 :])
        given = (at, ints(half, half))
        parts = [graph.add("Split", given, dims, n, axis=axis) for n in range(2)]
    else:
        parts = [graph.slice(at, axis, n * half, (n + 1) * half) for n in range(2)]
    opened = graph.add("Sigmoid", (parts[1],), graph.shapes[parts[1]])
    return graph.add("Mul", (parts[0], opened), graph.shapes[opened])


def scaling(draw: st.DrawFn, graph: Graph, at: int) -> int | None:
    """A feature map in another size, by interpolation."""
    shape = graph.shapes[at]
    if len(shape) != 4:
        return None
    factors = [1.0, 1.0, *(_choice(draw, 0.5, 1.0, 1.5, 2.0, 3.0) for _ in range(2))]
    sizes = tuple(int(size * by) for size, by in zip(shape, factors, strict=True))
    if min(sizes) < 1 or prod(sizes) > 6000:
        return None
    way = _choice(draw, "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")
    if way == "align_corners" and 1 in sizes[2:]:
        return None
    mode = _choice(draw, "linear", "linear", "cubic")
    given = (at, None, None, ints(*sizes))
    return graph.add(
        "Resize", given, sizes, mode=mode, coordinate_transformation_mode=way, cubic_coeff_a=-0.75
    )


def sampling(draw: st.DrawFn, graph: Graph, at: int) -> int | None:
    """Pixels at places that are computed."""
    shape = graph.shapes[at]
    if len(shape) != 4 or prod(shape) > 2000:
        return None
    batch, _, height, width = shape
    offsets = graph.add("ReduceMean", (at,), (batch, 1, height, width), axes=[1], keepdims=1)
    offsets = graph.add("Tanh", (offsets,), graph.shapes[offsets])
    offsets = graph.add("Concat", (offsets, offsets), (batch, 2, height, width), axis=1)
    grid = graph.transpose(offsets, 0, 2, 3, 1)
    grid = graph.add("Add", (grid, Weight((height, width, 2))), graph.shapes[grid])
    return graph.add(
        "GridSample", (at, grid), shape, mode="bilinear", align_corners=_choice(draw, 0, 1),
        padding_mode=_choice(draw, "zeros", "border"),
    )  # fmt: skip


def einsum(draw: st.DrawFn, graph: Graph, at: int) -> int | None:
    """Sums of products by letters, with a weight or with the tensor itself."""
    shape = graph.shapes[at]
    size = _whole(draw, 1, 9)
    if len(shape) == 4:
        n, c, h, w = shape
        equation, weight, result = _choice(
            draw,
            ("nchw,cd->ndhw", (c, size), (n, size, h, w)),
            ("nchw,wd->nchd", (w, size), (n, c, h, size)),
            ("nchw,hkw->nchk", (h, size, w), (n, c, h, size)),
            ("nchw,nkc->nkhw", (n, size, c), (n, size, h, w)),
        )
        return graph.add("Einsum", (at, Weight(weight)), result, equation=equation)
    if len(shape) == 3:
        b, s, c = shape
        if draw(st.booleans()):
            return graph.add("Einsum", (at, at), (b, s, s), equation="bic,bjc->bij")
        equation, weight, result = _choice(
            draw,
            ("bsc,cd->bsd", (c, size), (b, s, size)),
            ("bsc,bcd->bds", (b, c, size), (b, size, s)),
            ("bsc,scd->bsd", (s, c, size), (b, s, size)),
        )
        return graph.add("Einsum", (at, Weight(weight)), result, equation=equation)
    return None


def edges(draw: st.DrawFn, graph: Graph, at: int) -> int | None:
    """A border of mirrored or repeated pixels, and a convolution over it."""
    shape = graph.shapes[at]
    if len(shape) != 4 or min(shape[2:]) < 3 or prod(shape) > 2000:
        return None
    batch, channels = shape[:2]
    pads = [0, 0, *(_whole(draw, 0, 2) for _ in range(2)), 0, 0,
            *(_whole(draw, 0, 2) for _ in range(2))]  # fmt: skip
    padded = tuple(size + pads[n] + pads[n + 4] for n, size in enumerate(shape))
    mode = _choice(draw, "reflect", "edge")
    made = graph.add("Pad", (at, ints(*pads)), padded, mode=mode)
    given = (made, Weight((3, channels, 3, 3)), Weight((3,)))
    return graph.add("Conv", given, (batch, 3, padded[2] - 2, padded[3] - 2))


IDIOMS: tuple[Idiom, ...] = (
    *(attention, attention, channel_attention, row_norm, group_norm, activation, excitation),
    *(inverted_residual, shuffle, windows, rotary, gate, scaling, sampling, einsum, edges),
)
