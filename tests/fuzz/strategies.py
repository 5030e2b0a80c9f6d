"""Random ops: every step takes tensors that are there and says what shape it makes.

Values stay within reach of f32: exponents and divisors are made tame by the step that uses them.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias, TypeVar

from hypothesis import strategies as st
from tests.fuzz.recipes import Shape, Step, Weight

Draw: TypeAlias = st.DrawFn
T = TypeVar("T")
Maker: TypeAlias = Callable[[Draw, Sequence[Shape], int], "Step | None"]
"""Draws a step from a tensor of the graph, given all shapes; None when it does not suit it."""

LARGEST = 6000
"""Elements of a tensor."""


def _choice(draw: Draw, *values: T) -> T:
    return draw(st.sampled_from(values))


def _whole(draw: Draw, low: int, high: int) -> int:
    return draw(st.integers(low, high))


UNARY = ("Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Erf", "Softplus", "Softsign", "Identity",
         "HardSwish", "Sin", "Cos", "Sign", "HardSigmoid")  # fmt: skip


def unary(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    kind = _choice(draw, *UNARY, "LeakyRelu", "Elu", "Clip", "Pow")
    if kind == "Clip":
        limits = _choice(draw, (-0.75, 0.5), (0.0, 6.0), (-9.0, -8.0), (8.0, 9.0))
        return Step(kind, (at, *(Weight((), "floats", (one,)) for one in limits)), shapes[at])
    if kind == "Pow":
        return Step(kind, (at, Weight((), "floats", (2.0,))), shapes[at])
    if kind == "Sign" and at >= 1:
        kind = "Abs"  # a jump at 0 would turn a rounding error into a difference
    attributes = {"alpha": _choice(draw, 0.125, 0.75, 3.0)} if kind in ("LeakyRelu", "Elu") else {}
    return Step(kind, (at,), shapes[at], attributes)


def constant_arithmetic(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    """A constant that spreads over the tensor, on either side."""
    shape = shapes[at]
    dims = tuple(size if draw(st.booleans()) else 1 for size in shape)
    cut = _whole(draw, 0, len(dims))
    kind = _choice(draw, "Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu")
    kinds = ("positive",) if kind == "Div" else ("normal", "far")
    weight = Weight(dims[cut:], _choice(draw, *kinds))
    if kind in ("Div", "PRelu") or draw(st.booleans()):
        return Step(kind, (at, weight), shape)
    return Step(kind, (weight, at), shape)


def arithmetic(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    """Two tensors of the graph that spread over each other."""
    fitting = [n for n, shape in enumerate(shapes) if _spread(shape, shapes[at]) is not None]
    other = _choice(draw, *fitting)
    shape = _spread(shapes[other], shapes[at])
    if shape is None or prod(shape) > LARGEST:
        return None
    return Step(_choice(draw, "Add", "Sub", "Mul", "Max", "Min"), (at, other), shape)


def _spread(one: Shape, other: Shape) -> Shape | None:
    rank = max(len(one), len(other))
    pairs = zip((1,) * (rank - len(one)) + one, (1,) * (rank - len(other)) + other, strict=True)
    sizes: list[int] = []
    for a, b in pairs:
        if a != b and 1 not in (a, b):
            return None
        sizes.append(max(a, b))
    return tuple(sizes)


def _window(size: int, kernel: int, stride: int, before: int, after: int, dilation: int = 1) -> int:
    return (size + before + after - dilation * (kernel - 1) - 1) // stride + 1


def _windows(
    draw: Draw, shape: Shape, dilate: bool
) -> tuple[dict[str, Any], tuple[int, int]] | None:
    """Attributes of a window over h and w, and the size of what comes out."""
    kernel = [_whole(draw, 1, 3), _whole(draw, 1, 3)]
    strides = [_whole(draw, 1, 2), _whole(draw, 1, 2)]
    pads = [_whole(draw, 0, kernel[n % 2] - 1) for n in range(4)]
    dilations = [_whole(draw, 1, 2), _whole(draw, 1, 2)] if dilate else [1, 1]
    sizes = [
        _window(shape[2 + n], kernel[n], strides[n], pads[n], pads[n + 2], dilations[n])
        for n in range(2)
    ]
    if min(sizes) < 1:
        return None
    given: dict[str, Any] = {"kernel_shape": kernel, "strides": strides, "pads": pads}
    return given | ({"dilations": dilations} if dilate else {}), (sizes[0], sizes[1])


def convolution(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    shape = shapes[at]
    if len(shape) != 4 or (found := _windows(draw, shape, dilate=True)) is None:
        return None
    attributes, sizes = found
    channels = shape[1]
    groups = _choice(draw, *{1, channels, 2 if channels % 2 == 0 else 1})
    # A lane group of output channels, or more, is cut from others where an op is by itself.
    each = _whole(draw, 1, max(1, 20 // groups))
    out = groups * _choice(draw, each, 64, 128) if groups <= 2 else groups * each
    weights = [Weight((out, channels // groups, *attributes["kernel_shape"]))]
    if draw(st.booleans()):
        weights.append(Weight((out,)))
    result = (shape[0], out, *sizes)
    if prod(result) > LARGEST:
        return None
    return Step("Conv", (at, *weights), result, attributes | {"group": groups})


def deconvolution(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    shape = shapes[at]
    if len(shape) != 4:
        return None
    kernel, stride = _whole(draw, 1, 3), _whole(draw, 1, 2)
    pad = _whole(draw, 0, (kernel - 1) // 2)
    out = _whole(draw, 1, 12)
    sizes = [(size - 1) * stride + kernel - 2 * pad for size in shape[2:]]
    result = (shape[0], out, *sizes)
    if min(sizes) < 1 or prod(result) > LARGEST:
        return None
    weights = (Weight((shape[1], out, kernel, kernel)), Weight((out,)))
    given = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4}
    return Step("ConvTranspose", (at, *weights), result, given)


def row_convolution(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    """Along one dimension."""
    shape = shapes[at]
    kernel, stride = _whole(draw, 1, 3), _whole(draw, 1, 2)
    if len(shape) != 3 or shape[2] < kernel:
        return None
    out = _whole(draw, 1, 12)
    result = (shape[0], out, _window(shape[2], kernel, stride, 0, 0))
    weights = (Weight((out, shape[1], kernel)), Weight((out,)))
    return Step("Conv", (at, *weights), result, {"kernel_shape": [kernel], "strides": [stride]})


def running_sum(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    axis = _whole(draw, 0, len(shapes[at]) - 1)
    return Step("CumSum", (at, Weight((), "ints", (axis,))), shapes[at])


def pooling(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    shape = shapes[at]
    if len(shape) != 4:
        return None
    kind = _choice(draw, "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool")
    if kind.startswith("Global"):
        return Step(kind, (at,), (*shape[:2], 1, 1))
    if (found := _windows(draw, shape, dilate=False)) is None:
        return None
    attributes, sizes = found
    if kind == "AveragePool":
        attributes["count_include_pad"] = _choice(draw, 0, 1)
    return Step(kind, (at,), (*shape[:2], *sizes), attributes)


def normalisation(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    shape = shapes[at]
    kind = _choice(draw, "BatchNormalization", "LayerNormalization", "InstanceNormalization")
    if kind == "LayerNormalization":
        if shape[-1] < 2:
            return None
        weights = (Weight(shape[-1:], "positive"), Weight(shape[-1:]))
        return Step(kind, (at, *weights), shape, {"axis": -1, "epsilon": 1e-3})
    if len(shape) != 4:
        return None
    channels = (shape[1],)
    scale = (Weight(channels, "positive"), Weight(channels))
    if kind == "BatchNormalization":
        spread = (Weight(channels), Weight(channels, "positive"))
        return Step(kind, (at, *scale, *spread), shape)
    if prod(shape[2:]) < 2:
        return None
    return Step(kind, (at, *scale), shape, {"epsilon": 1e-3})


def softmax(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    axis = _whole(draw, 0, len(shapes[at]) - 1)
    kind = _choice(draw, "Softmax", "Softmax", "LogSoftmax")
    return Step(kind, (at,), shapes[at], {"axis": axis})


def reduction(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    """Over some axes; opset 17 has them as an attribute, except for sums."""
    shape = shapes[at]
    axes = sorted(draw(st.sets(st.integers(0, len(shape) - 1), min_size=1)))
    keep = _choice(draw, 0, 1)
    sizes = [1 if n in axes else size for n, size in enumerate(shape)]
    result = tuple(sizes) if keep else tuple(s for n, s in enumerate(shape) if n not in axes)
    if not result:
        return None
    kind = _choice(
        draw, "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceL1"
    )
    if kind == "ReduceSum":
        weight = Weight((len(axes),), "ints", tuple(axes))
        return Step(kind, (at, weight), result, {"keepdims": keep})
    return Step(kind, (at,), result, {"axes": axes, "keepdims": keep})


def product(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    """With a weight, or with another tensor of the graph turned round."""
    shape = shapes[at]
    if len(shape) < 2:
        return None
    columns = _whole(draw, 1, 24)
    weight = Weight((shape[-1], columns))
    if len(shape) == 2 and draw(st.booleans()):
        bias = Weight((columns,))
        return Step("Gemm", (at, weight, bias), (shape[0], columns))
    if draw(st.booleans()):
        fitting = [n for n, s in enumerate(shapes) if len(s) == len(shape) and
                   s[:-2] == shape[:-2] and s[-2] == shape[-1]]  # fmt: skip
        if fitting:
            other = _choice(draw, *fitting)
            return Step("MatMul", (at, other), (*shape[:-1], shapes[other][-1]))
    return Step("MatMul", (at, weight), (*shape[:-1], columns))


def transposition(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    order = draw(st.permutations(list(range(len(shapes[at])))))
    result = tuple(shapes[at][n] for n in order)
    return Step("Transpose", (at,), result, {"perm": list(order)})


def reshaping(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    """Neighbouring dimensions joined, or one split."""
    shape = list(shapes[at])
    place = _whole(draw, 0, len(shape) - 1)
    if place + 1 < len(shape) and draw(st.booleans()):
        shape[place : place + 2] = [shape[place] * shape[place + 1]]
    elif len(shape) < 5:
        factor = _choice(draw, *[n for n in range(1, shape[place] + 1) if shape[place] % n == 0])
        shape[place : place + 1] = [factor, shape[place] // factor]
    else:
        return None
    weight = Weight((len(shape),), "ints", tuple(shape))
    return Step("Reshape", (at, weight), tuple(shape))


def slicing(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    shape = list(shapes[at])
    axis = _whole(draw, 0, len(shape) - 1)
    start = _whole(draw, 0, shape[axis] - 1)
    end = _whole(draw, start + 1, shape[axis])
    step = _whole(draw, 1, 2)
    shape[axis] = -(-(end - start) // step)
    values = (Weight((1,), "ints", (n,)) for n in (start, end, axis, step))
    return Step("Slice", (at, *values), tuple(shape))


def joining(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    shape = shapes[at]
    axis = _whole(draw, 0, len(shape) - 1)
    rest = (*shape[:axis], *shape[axis + 1 :])
    fitting = [n for n, s in enumerate(shapes) if len(s) == len(shape) and
               (*s[:axis], *s[axis + 1 :]) == rest]  # fmt: skip
    parts = [at, *(_choice(draw, *fitting) for _ in range(_whole(draw, 1, 2)))]
    size = sum(shapes[n][axis] for n in parts)
    result = (*shape[:axis], size, *shape[axis + 1 :])
    return Step("Concat", tuple(parts), result, {"axis": axis}) if prod(result) <= LARGEST else None


def padding(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    shape = shapes[at]
    if len(shape) != 4:
        return None
    pads = [0, 0, *(_whole(draw, 0, 2) for _ in range(2)), 0, 0,
            *(_whole(draw, 0, 2) for _ in range(2))]  # fmt: skip
    result = tuple(size + pads[n] + pads[n + 4] for n, size in enumerate(shape))
    if prod(result) > LARGEST:
        return None
    value = Weight((), "floats", (_choice(draw, 0.5, -9.0, 9.0),))
    weights = (Weight((8,), "ints", tuple(pads)), value)
    return Step("Pad", (at, *weights), result, {"mode": "constant"})


def resizing(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    shape = shapes[at]
    if len(shape) != 4:
        return None
    kind = _choice(draw, "Resize", "DepthToSpace", "SpaceToDepth")
    if kind == "Resize":
        factors = (1, 1, _whole(draw, 1, 3), _whole(draw, 1, 3))
        result = tuple(size * factor for size, factor in zip(shape, factors, strict=True))
        scales = Weight((4,), "floats", factors)
        given = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric",
                 "nearest_mode": "floor"}  # fmt: skip
        return Step(kind, (at, None, scales), result, given) if prod(result) <= LARGEST else None
    n, c, h, w = shape
    if kind == "DepthToSpace":
        if c % 4:
            return None
        mode = _choice(draw, "DCR", "CRD")
        return Step(kind, (at,), (n, c // 4, h * 2, w * 2), {"blocksize": 2, "mode": mode})
    return (
        None if h % 2 or w % 2 else Step(kind, (at,), (n, c * 4, h // 2, w // 2), {"blocksize": 2})
    )


def gathering(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    """Rows by constant numbers."""
    shape = shapes[at]
    axis = _whole(draw, 0, len(shape) - 1)
    rows = draw(st.lists(st.integers(0, shape[axis] - 1), min_size=1, max_size=6))
    weight = Weight((len(rows),), "ints", tuple(rows))
    result = (*shape[:axis], len(rows), *shape[axis + 1 :])
    return Step("Gather", (at, weight), result, {"axis": axis})


def spreading(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    shape = shapes[at]
    times = tuple(_whole(draw, 1, 3) for _ in shape)
    kind = _choice(draw, "Expand", "Tile")
    if kind == "Expand":
        times = tuple(n if size == 1 else 1 for n, size in zip(times, shape, strict=True))
    result = tuple(n * size for n, size in zip(times, shape, strict=True))
    if prod(result) > LARGEST:
        return None
    values = result if kind == "Expand" else times
    return Step(kind, (at, Weight((len(shape),), "ints", values)), result)


def selecting(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    """One tensor or another, by a constant mask or by the sign of the first input."""
    shape = shapes[at]
    fitting = [n for n, other in enumerate(shapes) if _spread(other, shape) == shape]
    other = _choice(draw, *fitting) if draw(st.booleans()) else Weight(shape[1:])
    parts = (at, other) if draw(st.booleans()) else (other, at)
    if _spread(shapes[0], shape) == shape and draw(st.booleans()):
        return Step("Where", (0, *parts), shape)
    dims = tuple(size if draw(st.booleans()) else 1 for size in shape)
    return Step("Where", (Weight(dims, "bits"), *parts), shape)


def ranking(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    """The largest or least numbers, of the first input their places, too."""
    shape = shapes[at]
    axis = _whole(draw, 0, len(shape) - 1)
    count = _whole(draw, 1, min(shape[axis], 5))
    result = (*shape[:axis], count, *shape[axis + 1 :])
    given = {"axis": axis, "largest": _choice(draw, 1, 0)}
    place = _choice(draw, 0, 1) if at == 0 else 0
    return Step("TopK", (at, Weight((1,), "ints", (count,))), result, given, place)


def scattering(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    """Some rows put in the place of others, or added to them."""
    shape = shapes[at]
    rows = tuple(draw(st.permutations(list(range(shape[0])))))
    attributes = {"reduction": _choice(draw, "none", "none", "add")}
    if draw(st.booleans()) and shape[0] > 1:
        rows = rows[: _whole(draw, 1, shape[0] - 1)]
        weights = (Weight((len(rows), 1), "ints", rows), Weight((len(rows), *shape[1:])))
        return Step("ScatterND", (at, *weights), shape, attributes)
    size = shape[0] + _whole(draw, 0, 3)
    places = tuple(draw(st.permutations(list(range(size)))))[: shape[0]]
    data, indices = Weight((size, *shape[1:])), Weight((shape[0], 1), "ints", places)
    return Step("ScatterND", (data, indices, at), data.shape, attributes)


GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def recurrence(draw: Draw, shapes: Sequence[Shape], at: int) -> Step | None:
    """A few steps of a recurrent net; all outputs, or the last one."""
    shape = shapes[at]
    if len(shape) != 3 or shape[0] > 4:
        return None
    kind = _choice(draw, *GATES)
    direction = _choice(draw, "forward", "reverse", "bidirectional")
    ways = 2 if direction == "bidirectional" else 1
    hidden, gates = _whole(draw, 1, 9), GATES[kind]
    weights: list[Weight | None] = [
        Weight((ways, gates * hidden, shape[2])), Weight((ways, gates * hidden, hidden)),
        Weight((ways, 2 * gates * hidden)) if draw(st.booleans()) else None,
    ]  # fmt: skip
    if draw(st.booleans()):
        weights += [None, Weight((ways, shape[1], hidden))]
    attributes: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
    if kind == "GRU":
        attributes["linear_before_reset"] = _choice(draw, 0, 1)
    last = _whole(draw, 0, 2 if kind == "LSTM" else 1)
    result = (ways, shape[1], hidden) if last else (shape[0], ways, shape[1], hidden)
    return Step(kind, (at, *weights), result, attributes, last)


MAKERS: tuple[Maker, ...] = (
    *(unary, constant_arithmetic, arithmetic, convolution, convolution, pooling, normalisation),
    *(deconvolution, row_convolution, running_sum),
    *(softmax, reduction, product, product, transposition, reshaping, slicing, joining, padding),
    *(resizing, gathering, spreading, selecting, ranking, scattering, recurrence),
)
