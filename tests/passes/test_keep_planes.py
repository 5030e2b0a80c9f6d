"""Volumes that stay in the order of convolutions, plane behind plane: the same numbers."""

from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper
from tests.passes.semantics import Net, assert_same_numbers, ops_of
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.tpu import ActiveMode
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.pipelines import lower
from xdsl_tpu.passes.tensors import shape_of

C, D, H, W = 6, 5, 4, 8
PASSES = "shape-infer,keep-planes"


class Volumes(Net):
    """Ops of volumes between what gives planes and what takes them."""

    def shaped(self, name: str, value: SSAValue, *shape: int) -> SSAValue:
        """A value in another shape."""
        kind = TensorType(f32, shape)
        made = tpu.ReshapeOp.make(name, (value,), result_types=[kind], shape=list(shape))
        return self.add(made)

    def by_channel(self, name: str, n: int = 1) -> SSAValue:
        """An input plane by plane, as a volume."""
        x = self.input(name, n, D * C, H, W)
        x = self.shaped(f"{name}_a", x, n, D, C, H * W)
        x = self.op(tpu.PermuteOp, f"{name}_b", (x, self.none), order=[0, 2, 1, 3])
        return self.shaped(f"{name}_c", x, n, C, D, H, W)

    def by_plane(self, value: SSAValue, n: int = 1, positions: int = H * W) -> SSAValue:
        """A volume plane by plane."""
        value = self.shaped("flat", value, n, C, D, positions)
        return self.op(tpu.PermuteOp, "planes", (value, self.none), order=[0, 2, 1, 3])


def permutes(net: Volumes, *outputs: SSAValue) -> int:
    """Permutes that are left, which were all there are."""
    module = net.module(*outputs)
    return len(ops_of(assert_same_numbers(module, PASSES), tpu.PermuteOp))


ELEMENT: list[tuple[type[NamedOp], dict[str, Any]]] = [
    (tpu.LeakyReluOp, {"alpha": 0.1}),
    (tpu.ReluOp, {}),
    (tpu.MulConstOp, {"const_val": 3.0}),
    (tpu.ActiveOp, {"mode": ActiveMode.SILU}),
]


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize(("kind", "attributes"), ELEMENT)
def test_element_by_element(kind: type[NamedOp], attributes: dict[str, Any], n: int) -> None:
    net = Volumes()
    y = net.op(kind, "y", (net.by_channel("x", n),), **attributes)
    assert permutes(net, net.by_plane(y, n)) == 0


@pytest.mark.parametrize("kind", [tpu.AddOp, tpu.MulOp, tpu.SubOp])
def test_two_volumes(kind: type[NamedOp]) -> None:
    """Both by planes; where one is not, the other goes back, too."""
    net = Volumes()
    a, b = net.by_channel("a"), net.by_channel("b")
    assert permutes(net, net.by_plane(net.op(kind, "y", (a, b)))) == 0
    net = Volumes()
    a, b = net.by_channel("a"), net.input("b", 1, C, D, H, W)
    assert permutes(net, net.by_plane(net.op(kind, "y", (a, b)))) == 2


def of_images(net: Volumes, name: str, n: int = 1) -> SSAValue:
    """A volume of what a convolution of images gives, in four dimensions."""
    x = net.shaped(f"{name}_a", net.input(name, n * D, C, H, W), n, D, C, H * W)
    return net.op(tpu.PermuteOp, f"{name}_b", (x, net.none), order=[0, 2, 1, 3])


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("rank", [4, 5])
def test_gates_of_channels(rank: int, swapped: bool) -> None:
    """One number for each channel multiplies it in all planes, be these seen as images or not."""
    net = Volumes()
    gate = net.input("gate", 1, C, *(1,) * (rank - 2))
    x = of_images(net, "x") if rank == 4 else net.by_channel("x")
    gated = net.op(tpu.MulOp, "gated", (gate, x) if swapped else (x, gate))
    assert permutes(net, net.by_plane(net.op(tpu.ReluOp, "y", (gated,)))) == 0


@pytest.mark.parametrize(("n", "gates"), [(2, 2 * C), (1, C * D)], ids=["batch", "planes"])
def test_what_is_no_gate_of_channels(n: int, gates: int) -> None:
    """In a batch each volume has gates of its own; one for each channel and plane is none."""
    net = Volumes()
    shape = (n, C, 1, 1) if gates == n * C else (n, C, D, 1)
    gated = net.op(tpu.MulOp, "gated", (of_images(net, "x", n), net.input("gate", *shape)))
    assert permutes(net, net.by_plane(gated, n)) == 2


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("mode", ["ReduceMean", "ReduceMax", "ReduceMin"])
def test_channels_are_reduced_plane_by_plane(mode: str, keepdims: bool, n: int) -> None:
    """Of the volume's own Permute nothing is left: one of a number for each plane is."""
    net = Volumes()
    x = of_images(net, "x", n)
    operands = (x, net.none, net.none)
    y = net.op(tpu.ReduceOp, "y", operands, axes=[2, 3], keepdims=keepdims, mode=mode)
    after = assert_same_numbers(net.module(y), PASSES)
    (permute,) = ops_of(after, tpu.PermuteOp)
    assert shape_of(permute.output) == (n, C, D, 1)
    assert [shape_of(op.input) for op in ops_of(after, tpu.ReduceOp)] == [
        (n * D, C, H, W),
        (n, C, D, 1),
    ]


@pytest.mark.parametrize(("mode", "axes"), [("ReduceL2", [2, 3]), ("ReduceMean", [3])])
def test_what_is_not_reduced_plane_by_plane(mode: str, axes: list[int]) -> None:
    net = Volumes()
    operands = (of_images(net, "x"), net.none, net.none)
    y = net.op(tpu.ReduceOp, "y", operands, axes=axes, keepdims=True, mode=mode)
    (reduction,) = ops_of(assert_same_numbers(net.module(y), PASSES), tpu.ReduceOp)
    assert shape_of(reduction.input) == (1, C, D, H * W)


def test_volumes_of_other_channels() -> None:
    """As images they have one shape, but their channels lie elsewhere."""
    net = Volumes()
    images = [net.shaped("one", net.by_channel("a"), 1, C * D, H, W)]
    x = net.shaped("b_a", net.input("b", 1, C * D, H, W), 1, C, D, H * W)
    x = net.op(tpu.PermuteOp, "b_b", (x, net.none), order=[0, 2, 1, 3])
    x = net.shaped("b_c", x, 1, D, C, H, W)
    images.append(net.shaped("other", x, 1, C * D, H, W))
    assert permutes(net, net.by_plane(net.op(tpu.AddOp, "y", images))) == 3


def test_what_is_no_plane_of_the_volume() -> None:
    """Twice as many channels of half as many positions are other planes."""
    net = Volumes()
    x = net.shaped("x", net.op(tpu.ReluOp, "r", (net.by_channel("v"),)), 1, 2 * C, D, H * W // 2)
    y = net.op(tpu.PermuteOp, "y", (x, net.none), order=[0, 2, 1, 3])
    assert permutes(net, y) == 2


@pytest.mark.parametrize("groups", [1, 2, C, 0])
@pytest.mark.parametrize("given", [True, False])
def test_norms(groups: int, given: bool) -> None:
    """0 groups: one of each channel, by an InstanceNorm."""
    net = Volumes()
    own = [net.weight(name, 1, C, 1, 1, 1) if given else net.none for name in "wb"]
    operands = (net.by_channel("x"), *own, net.none, net.none)
    if groups:
        y = net.op(tpu.GroupNormOp, "y", operands, num_groups=groups, eps=1e-5)
    else:
        y = net.op(tpu.InstanceNormOp, "y", operands, eps=1e-5)
    assert permutes(net, net.by_plane(y)) == 0


def test_norms_of_flat_planes() -> None:
    """A norm may be written over rows of positions, of whatever lengths."""
    net = Volumes()
    x = net.shaped("flat", net.by_channel("x"), 1, C, D, H * W)
    operands = (x, *(net.weight(name, 1, C, 1, 1) for name in "wb"), net.none, net.none)
    y = net.op(tpu.GroupNormOp, "y", operands, num_groups=C, eps=1e-5)
    assert permutes(net, net.by_plane(y)) == 0


def test_channels_of_two_volumes() -> None:
    """As a decoder takes what its encoder made; what is taken has the channels of both."""
    net = Volumes()
    both = net.op(tpu.ConcatOp, "y", (net.by_channel("a"), net.by_channel("b")), axis=1)
    x = net.shaped("flat", net.op(tpu.ReluOp, "r", (both,)), 1, 2 * C, D, H * W)
    y = net.op(tpu.PermuteOp, "p", (x, net.none), order=[0, 2, 1, 3])
    assert permutes(net, y) == 0


def test_planes_that_are_joined_go_by_channel() -> None:
    net = Volumes()
    y = net.op(tpu.ConcatOp, "y", (net.by_channel("a"), net.by_channel("b")), axis=2)
    x = net.shaped("flat", y, 1, C, 2 * D, H * W)
    assert permutes(net, net.op(tpu.PermuteOp, "p", (x, net.none), order=[0, 2, 1, 3])) == 3


def test_pools_are_by_planes_for_those_who_want_channels() -> None:
    """A quarter of the volume is put together."""
    net = Volumes()
    x = net.shaped("images", net.by_channel("x"), 1, C * D, H, W)
    window = {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [0] * 4}
    y = net.op(tpu.Pool2DOp, "y", (x,), pool_mode=tpu.PoolMode.Max, **window)
    (permute,) = ops_of(assert_same_numbers(net.module(y), PASSES), tpu.PermuteOp)
    assert shape_of(permute.output) == (1, C, D, H * W // 4)


def test_pools_within_planes() -> None:
    net = Volumes()
    x = net.shaped("images", net.by_channel("x"), 1, C * D, H, W)
    window = {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [0] * 4}
    y = net.op(tpu.Pool2DOp, "y", (x,), pool_mode=tpu.PoolMode.Max, **window)
    assert permutes(net, net.by_plane(y, positions=H * W // 4)) == 0


def test_others_get_their_channels() -> None:
    """One reader takes planes, one the volume, which is put together once behind both ops."""
    net = Volumes()
    y = net.op(tpu.ReluOp, "y", (net.by_channel("x"),))
    assert permutes(net, y, net.by_plane(y)) == 1


def test_nothing_is_done_for_those_who_want_channels() -> None:
    net = Volumes()
    module = net.module(net.op(tpu.ReluOp, "y", (net.by_channel("x"),)))
    (relu,) = ops_of(assert_same_numbers(module, PASSES), tpu.ReluOp)
    assert shape_of(relu.output) == (1, C, D, H, W)


def test_between_convolutions_on_the_machine() -> None:
    """Two of them, a norm, an activation and a sum; nothing is moved from plane to channel."""
    rng, shape = np.random.default_rng(0), (1, 8, 4, 12, 12)
    filters = [
        numpy_helper.from_array((rng.standard_normal((8, 8, 3, 3, 3)) / 15).astype(np.float32), n)
        for n in "ab"
    ]
    own = [numpy_helper.from_array(rng.random(8).astype(np.float32), name) for name in "sz"]
    nodes = [
        helper.make_node("Conv", ["x", "a"], ["c"], pads=[1] * 6, name="c"),
        helper.make_node("InstanceNormalization", ["c", "s", "z"], ["n"], name="n"),
        helper.make_node("LeakyRelu", ["n"], ["l"], alpha=0.1, name="l"),
        helper.make_node("Add", ["l", "c"], ["t"], name="t"),
        helper.make_node("Conv", ["t", "b"], ["y"], pads=[1] * 6, name="y"),
    ]
    given, result = (helper.make_tensor_value_info(name, 1, shape) for name in "xy")
    graph = helper.make_graph(nodes, "volumes", [given], [result], [*filters, *own])
    opset = [helper.make_opsetid("", 17)]
    module = import_onnx(helper.make_model(graph, opset_imports=opset, ir_version=9))
    inputs = {"x": rng.standard_normal(shape).astype(np.float32)}
    (expected,) = run_module(module, inputs).values()
    chip = load_chip("bm1684x")
    lower(module, "F16", chip.instruction_set)
    orders = [tuple(ints(op.order)) for op in ops_of(module, tpu.PermuteOp)]
    assert len(orders) <= 2  # the input's, the result's
    program = generate(module, weights_of(module), chip)
    (got,) = run_program(program, chip, inputs).values()
    scale = float(np.abs(expected).max())
    assert float(np.abs(np.asarray(got, np.float32) - expected).max()) < 4e-3 * scale
