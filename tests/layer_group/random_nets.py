"""Small networks drawn at random: a chain of ops, some of which look back at earlier values."""

from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.vendor.pretty import RepresentationPrinter
from tests.kernels.harness import Case
from tests.local.test_local_cnn import conv
from tests.local.test_local_transformer import NONE, layer_norm, linear, matmul, reshape, softmax

Shape = tuple[int, ...]


class Drawn(Case):
    """A case that shows its ops when a test fails, not its numbers."""

    def __repr__(self) -> str:
        return "\n".join([self.kind, *self.lines])

    def _repr_pretty_(self, printer: RepresentationPrinter, cycle: bool) -> None:
        printer.text(repr(self))


class _Net:
    """A case that grows; `shapes` are those of all values so far, the last one is current."""

    def __init__(self, draw: st.DrawFn, kind: str, shape: Shape) -> None:
        self.draw = draw
        self.case = Drawn(kind, draw(st.integers(0, 9), label="seed"))
        self.shapes: dict[str, Shape] = {}
        self.count = 0
        self.name = self.case.input("x", shape)
        self.shapes[self.name] = shape

    @property
    def shape(self) -> Shape:
        """Of the current value."""
        return self.shapes[self.name]

    def fresh(self) -> str:
        """A name for the next value."""
        self.count += 1
        return f"v{self.count}"

    def now(self, name: str, shape: Shape) -> None:
        """What the next op works on."""
        self.name, self.shapes[name] = name, shape

    def op(self, kind: str, shape: Shape | None = None, **attributes: str) -> None:
        """An op of the current value."""
        target = shape or self.shape
        self.now(self.case.op(f"tpu.{kind}", [self.name], attributes, self.fresh(), target), target)

    def earlier(self) -> str:
        """A value of the current shape, or a weight that is stretched to it."""
        same = [name for name, shape in self.shapes.items() if shape == self.shape]
        chosen = self.draw(st.sampled_from([*same, "weight"]), label="other operand")
        if chosen != "weight":
            return chosen
        axes = self.draw(st.lists(st.booleans(), min_size=4, max_size=4), label="stretched")
        sizes = [1 if one else size for one, size in zip(axes, self.shape, strict=False)]
        return self.case.weight(f"w{self.count}", tuple(sizes), 0.5)


def _convolve(net: _Net) -> None:
    n, c, h, w = net.shape
    kernel = net.draw(st.sampled_from([1, 3]), label="kernel")
    stride = net.draw(st.sampled_from([1, 2]), label="stride") if min(h, w) > 4 else 1
    groups = net.draw(st.sampled_from([1, 1, 2, c]), label="groups")
    if c % groups:
        groups = 1
    out = c if groups > 1 else net.draw(st.sampled_from([16, 40, 70, 96]), label="channels")
    pad = kernel // 2
    target = (n, out, *((size + 2 * pad - kernel) // stride + 1 for size in (h, w)))
    relu = net.draw(st.sampled_from([None, -1.0, 6.0]), label="relu")
    pads = (pad, pad, pad, pad)
    sizes = (kernel, kernel), (stride, stride)
    name = conv(net.case, net.name, net.fresh(), (net.shape, target), *sizes, pads, groups, relu)
    net.now(name, target)


def _pool(net: _Net) -> None:
    n, c, h, w = net.shape
    if min(h, w) < 4:
        return
    net.op(
        "Pool2D",
        (n, c, h // 2, w // 2),
        kernel_shape="[2, 2]",
        strides="[2, 2]",
        pads="[0, 0, 0, 0]",
        pool_mode=f"#tpu<pool_mode {net.draw(st.sampled_from(['Max', 'Avg']), label='mode')}>",
    )


def _add(net: _Net) -> None:
    relu = str(net.draw(st.booleans(), label="relu")).lower()
    operands = [net.name, net.earlier()]
    made = net.case.op("tpu.Add", operands, {"do_relu": relu}, net.fresh(), net.shape)
    net.now(made, net.shape)


def _multiply(net: _Net) -> None:
    operands = [net.name, net.earlier()]
    net.now(net.case.op("tpu.Mul", operands, {}, net.fresh(), net.shape), net.shape)
    net.op("Clip", min="-4.0 : f64", max="4.0 : f64")


def _scale(net: _Net) -> None:
    net.op("MulConst", const_val="0.7 : f64")


def _concat(net: _Net) -> None:
    n, c, h, w = net.shape
    if c > 100:
        return
    target = (n, 2 * c, h, w)
    operands = [net.name, net.name]
    name = net.case.op("tpu.Concat", operands, {"axis": "1 : si32"}, net.fresh(), target)
    net.now(name, target)


def _slice(net: _Net) -> None:
    n, c, h, w = net.shape
    if min(h, w) < 4:
        return
    target = (n, c, h - 2, w)
    lists = {"offset": "[0, 0, 1, 0]", "steps": "[1, 1, 1, 1]", "ends": str([n, c, h - 1, w])}
    operands = [net.name, *[NONE] * 4]
    net.now(net.case.op("tpu.Slice", operands, lists, net.fresh(), target), target)


def _relu(net: _Net) -> None:
    net.op("Relu")


_CONVOLUTIONAL: tuple[Callable[[_Net], None], ...] = (
    _convolve,
    _convolve,
    _convolve,
    _pool,
    _add,
    _add,
    _multiply,
    _scale,
    _concat,
    _slice,
    _relu,
)


@st.composite
def convolutional(draw: st.DrawFn) -> Case:
    """Convolutions, pooling, element-wise ops, a concatenation, a part of the rows."""
    kind = draw(st.sampled_from(["f32", "f16"]), label="kind")
    n, c = draw(st.sampled_from([1, 2, 4]), label="n"), draw(st.sampled_from([3, 16, 70]))
    size = draw(st.sampled_from([9, 16, 28]), label="size")
    net = _Net(draw, kind, (n, c, size, size))
    for step in draw(st.lists(st.sampled_from(_CONVOLUTIONAL), min_size=3, max_size=9)):
        step(net)
    _relu(net)
    return net.case


def _linear(net: _Net) -> None:
    n, tokens, size = net.shape
    wide = net.draw(st.sampled_from([32, 96]), label="columns")
    bias = net.draw(st.booleans(), label="bias")
    name = linear(net.case, net.name, net.fresh(), (n, tokens), (size, wide), bias)
    net.now(name, (n, tokens, wide))


def _norm(net: _Net) -> None:
    net.now(layer_norm(net.case, net.name, net.fresh(), net.shape), net.shape)


def _gelu(net: _Net) -> None:
    net.op("Active", mode="#tpu<active_mode GELU>")


def _attend(net: _Net) -> None:
    """Two heads of scores between the tokens and themselves, applied to themselves."""
    n, tokens, size = net.shape
    split, scores = (n, tokens, 2, size // 2), (n, tokens, 2, tokens)
    scaled = net.case.op(
        "tpu.MulConst", [net.name], {"const_val": "0.1 : f64"}, net.fresh(), net.shape
    )
    parts = [reshape(net.case, v, net.fresh(), split) for v in (scaled, net.name)]
    s = matmul(net.case, parts, net.fresh(), scores, heads=True, turned=True)
    p = softmax(net.case, s, net.fresh(), scores)
    o = matmul(net.case, [p, parts[1]], net.fresh(), split, heads=True)
    net.now(reshape(net.case, o, net.fresh(), net.shape), net.shape)


_OF_TOKENS: tuple[Callable[[_Net], None], ...] = (_linear, _linear, _norm, _gelu, _attend, _add)


@st.composite
def of_tokens(draw: st.DrawFn) -> Case:
    """Linear layers, LayerNorm, GELU, attention, residuals."""
    kind = draw(st.sampled_from(["f32", "f16"]), label="kind")
    n, tokens = draw(st.sampled_from([1, 4]), label="n"), draw(st.sampled_from([20, 49, 130]))
    net = _Net(draw, kind, (n, tokens, 32))
    for step in draw(st.lists(st.sampled_from(_OF_TOKENS), min_size=2, max_size=6)):
        step(net)
    _scale(net)
    return net.case
