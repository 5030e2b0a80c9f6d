"""Idioms are recognised in the spellings exporters use, and left alone when they are not one."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from onnx import helper
from xdsl.dialects.builtin import ModuleOp

Agree = Callable[..., ModuleOp]
Array = npt.NDArray[Any]
RNG = np.random.default_rng(5)
X = RNG.standard_normal((2, 6, 4, 8)).astype(np.float32)

MOMENTS = (
    "m=ReduceMean(x) d=Sub(x,m) p=Mul(d,d) v=ReduceMean(p) a=Add(v,eps) r=Sqrt(a) i=Reciprocal(r)"
)

TEXTS = {
    "gelu, scalar last": (
        "d=Div(x,sqrt2) e=Erf(d) a=Add(e,one) m=Mul(x,a) y=Mul(m,half)", "top.GELU"),
    "gelu, half on the gate": (
        "d=Mul(x,isqrt2) e=Erf(d) a=Add(one,e) m=Mul(half,a) y=Mul(m,x)", "top.GELU"),
    "gelu, half on x": (
        "h=Mul(x,half) d=Div(x,sqrt2) e=Erf(d) a=Add(e,one) y=Mul(h,a)", "top.GELU"),
    "tanh gelu, power": (
        "p=Pow(x,three) c=Mul(p,k) s=Add(x,c) t=Mul(s,root) h=Tanh(t) a=Add(h,one) "
        "m=Mul(x,a) y=Mul(m,half)", "top.GELU"),
    "tanh gelu, products": (
        "q=Mul(x,x) p=Mul(q,x) c=Mul(k,p) s=Add(c,x) t=Mul(root,s) h=Tanh(t) a=Add(one,h) "
        "m=Mul(half,x) y=Mul(m,a)", "top.GELU"),
    "sigmoid gelu": ("s=Mul(x,quick) g=Sigmoid(s) y=Mul(x,g)", "top.GELU"),
    "silu": ("g=Sigmoid(x) y=Mul(g,x)", "top.SiLU"),
    "mish": ("s=Softplus(x) t=Tanh(s) y=Mul(x,t)", "top.Mish"),
    "hard swish, clip": ("a=Add(x,three) c=Clip(a,zero,six) m=Mul(x,c) y=Div(m,six)",
                         "top.HardSwish"),
    "hard swish, gate scaled": ("a=Add(x,three) c=Clip(a,zero,six) g=Div(c,six) y=Mul(g,x)",
                                "top.HardSwish"),
    "hard swish, hard sigmoid": ("g=HardSigmoid(x) y=Mul(x,g)", "top.HardSwish"),
    "hard sigmoid": ("a=Add(x,three) c=Clip(a,zero,six) y=Div(c,six)", "top.HardSigmoid"),
    "hard sigmoid of a line": ("s=Mul(x,third) a=Add(s,half) y=Clip(a,zero,one)",
                               "top.HardSigmoid"),
    "softmax": ("m=ReduceMax(x) d=Sub(x,m) e=Exp(d) s=ReduceSum(e,last) y=Div(e,s)",
                "top.Softmax"),
    "softmax without shift": ("e=Exp(x) s=ReduceSum(e,last) y=Div(e,s)", "top.Softmax"),
    "layer norm": (
        "m=ReduceMean(x) d=Sub(x,m) p=Pow(d,two) v=ReduceMean(p) a=Add(v,eps) r=Sqrt(a) "
        "n=Div(d,r) w=Mul(n,weight) y=Add(w,bias)", "top.LayerNorm"),
    "layer norm, without parameters": (
        "m=ReduceMean(x) d=Sub(x,m) f=Sub(x,m) p=Mul(f,f) v=ReduceMean(p) a=Add(eps,v) r=Sqrt(a) "
        "y=Div(d,r)", "top.LayerNorm"),
    "layer norm, weight first": (
        "m=ReduceMean(x) d=Sub(x,m) p=Pow(d,two) v=ReduceMean(p) a=Add(v,eps) r=Sqrt(a) "
        "n=Div(d,r) w=Mul(weight,n) y=Add(bias,w)", "top.LayerNorm"),
    "layer norm, weight before the division": (
        "m=ReduceMean(x) d=Sub(x,m) p=Pow(d,two) v=ReduceMean(p) a=Add(v,eps) r=Sqrt(a) "
        "w=Mul(weight,d) n=Div(w,r) y=Add(n,bias)", "top.LayerNorm"),
    "layer norm, reciprocal": (
        "m=ReduceMean(x) d=Sub(x,m) p=Pow(d,two) v=ReduceMean(p) a=Add(v,eps) r=Sqrt(a) "
        "i=Reciprocal(r) n=Mul(d,i) w=Mul(n,weight) y=Add(w,bias)", "top.LayerNorm"),
    "layer norm, one over the root": (
        "m=ReduceMean(x) d=Sub(x,m) p=Pow(d,two) v=ReduceMean(p) a=Add(v,eps) r=Sqrt(a) "
        "i=Div(one,r) y=Mul(i,d)", "top.LayerNorm"),
    "layer norm, moments": (
        f"{MOMENTS} s=Mul(i,weight) f=Mul(x,s) g=Mul(m,s) t=Sub(bias,g) y=Add(f,t)",
        "top.LayerNorm"),
    "layer norm, moments, minus the mean": (
        f"{MOMENTS} s=Mul(weight,i) f=Mul(s,x) o=Neg(m) g=Mul(o,s) t=Add(bias,g) y=Add(t,f)",
        "top.LayerNorm"),
    "layer norm, moments, without parameters": (
        f"{MOMENTS} f=Mul(x,i) g=Mul(m,i) y=Sub(f,g)", "top.LayerNorm"),
    "layer norm, moments, without bias": (
        f"{MOMENTS} s=Mul(i,weight) f=Mul(x,s) g=Mul(m,s) o=Neg(g) y=Add(f,o)", "top.LayerNorm"),
}  # fmt: skip

ATTRIBUTES: dict[str, dict[str, Any]] = {
    "HardSigmoid": {"alpha": 1 / 6, "beta": 0.5},
    "ReduceMax": {"axes": [-1]},
    "ReduceMean": {"axes": [-1]},
}

NUMBERS = {
    "eps": 1e-5, "half": 0.5, "isqrt2": 0.70710678, "k": 0.044715, "one": 1.0, "quick": 1.702,
    "root": 0.7978845608, "six": 6.0, "sqrt2": 1.41421356, "third": 0.2, "three": 3.0, "two": 2.0,
    "zero": 0.0,
}  # fmt: skip


def constants() -> Mapping[str, Array]:
    numbers: dict[str, Array] = {
        name: np.asarray(value, np.float32) for name, value in NUMBERS.items()
    }
    numbers["last"] = np.array([-1])
    for name in ("weight", "bias"):
        numbers[name] = RNG.standard_normal(8).astype(np.float32)
    return numbers


def parsed(text: str) -> list[Any]:
    """`y=Add(a,b)` and so on as ONNX nodes."""
    nodes: list[Any] = []
    for statement in text.split():
        output, call = statement.split("=")
        op, operands = call.rstrip(")").split("(")
        names = operands.split(",")
        nodes.append(helper.make_node(op, names, [output], **ATTRIBUTES.get(op, {})))
    return nodes


def computing(module: ModuleOp) -> list[str]:
    """The ops of a module that compute."""
    passive = {"top.Input", "top.Weight", "top.None"}
    return [
        op.name for op in module.walk() if op.name.startswith("top.") and op.name not in passive
    ]


@pytest.mark.parametrize("idiom", TEXTS)
def test_recognised(agree: Agree, idiom: str) -> None:
    text, expected = TEXTS[idiom]
    module = agree(parsed(text), {"x": X}, constants(), opset=17, tolerance=2e-3)
    assert computing(module) == [expected]


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("d=Div(x,sqrt2) e=Erf(d) a=Add(e,one) y=Mul(x,a)", "top.GELU"),
        ("d=Div(x,sqrt2) e=Erf(d) a=Add(e,one) m=Mul(x,a) n=Mul(m,half) y=Add(n,e)", "top.GELU"),
        ("t=Mul(x,two) g=Sigmoid(t) y=Mul(x,g)", "top.SiLU"),
        ("g=Sigmoid(x) m=Mul(x,g) y=Add(m,g)", "top.SiLU"),
        ("d=Mul(x,two) s=Softplus(d) t=Tanh(s) y=Mul(x,t)", "top.Mish"),
        ("s=Softplus(x) t=Tanh(s) m=Mul(x,t) y=Add(m,s)", "top.Mish"),
        ("a=Add(x,two) c=Clip(a,zero,six) m=Mul(x,c) y=Div(m,six)", "top.HardSwish"),
        ("e=Exp(x) s=ReduceSum(e,last) d=Div(e,s) y=Add(d,e)", "top.Softmax"),
        ("m=ReduceMean(x) d=Sub(x,m) p=Pow(d,three) v=ReduceMean(p) b=Abs(v) a=Add(b,eps) "
         "r=Sqrt(a) y=Div(d,r)", "top.LayerNorm"),
        (f"{MOMENTS} s=Mul(i,weight) f=Mul(x,s) g=Mul(m,i) t=Sub(bias,g) y=Add(f,t)",
         "top.LayerNorm"),
        (f"{MOMENTS} f=Mul(x,i) g=Mul(m,i) y=Sub(g,f)", "top.LayerNorm"),
        (f"{MOMENTS} f=Mul(x,i) g=Mul(m,i) z=Sub(f,g) y=Add(z,i)", "top.LayerNorm"),
    ],
)  # fmt: skip
def test_left_alone(agree: Agree, text: str, absent: str) -> None:
    module = agree(parsed(text), {"x": X}, constants(), opset=17, tolerance=1e-4)
    assert absent not in computing(module)


def test_channel_norm(agree: Agree) -> None:
    per_channel = {"weight": X[0, :, :1, :1].copy(), "bias": X[1, :, :1, :1].copy()}
    text = TEXTS["layer norm"][0]
    nodes = parsed(text)
    for node in nodes:
        for attribute in node.attribute:
            attribute.ints[:] = [1]
    module = agree(nodes, {"x": X}, {**constants(), **per_channel}, tolerance=1e-4)
    assert computing(module) == ["top.PixelNorm"]


@pytest.mark.parametrize("idiom", [key for key in TEXTS if key.startswith("layer norm")])
@pytest.mark.parametrize("axes", [[1, 2, 3], [2, 3], [-1, -2]], ids=str)
def test_norms_of_images_and_of_their_channels(agree: Agree, idiom: str, axes: list[int]) -> None:
    channel = {"weight": X[0, :, :1, :1].copy(), "bias": X[1, :, :1, :1].copy()}
    module = agree(over(axes, idiom), {"x": X}, {**constants(), **channel}, tolerance=1e-4)
    assert computing(module) == ["top.GroupNorm"]


def test_norm_of_an_image_with_a_weight_for_each_element(agree: Agree) -> None:
    full = {"weight": X[0].copy(), "bias": X[1].copy()}
    nodes = over([1, 2, 3], "layer norm")
    module = agree(nodes, {"x": X}, {**constants(), **full}, tolerance=1e-4)
    assert computing(module) == ["top.LayerNorm"]


def test_a_weight_of_other_sizes_before_the_division_stays(agree: Agree) -> None:
    nodes = over([2, 3], "layer norm, weight before the division")
    module = agree(nodes, {"x": X}, constants(), tolerance=1e-4)
    assert "top.Div" in computing(module)


def over(axes: list[int], idiom: str) -> list[Any]:
    """The nodes of an idiom with other axes reduced."""
    nodes = parsed(TEXTS[idiom][0])
    for node in nodes:
        for attribute in node.attribute:
            attribute.ints[:] = axes
    return nodes


@pytest.mark.parametrize("affine", [True, False])
def test_group_norm(agree: Agree, affine: bool) -> None:
    shapes = {"s": np.array([0, 3, -1]), "t": np.array(X.shape)}
    neutral = {"i": np.ones(3, np.float32), "o": np.zeros(3, np.float32)}
    channel = {"weight": X[0, :, :1, :1].copy(), "bias": X[1, :, :1, :1].copy()}
    text = "r=Reshape(x,s) n=InstanceNormalization(r,i,o) "
    text += "b=Reshape(n,t) w=Mul(b,weight) y=Add(w,bias)" if affine else "y=Reshape(n,t)"
    module = agree(parsed(text), {"x": X}, {**shapes, **neutral, **channel}, tolerance=1e-4)
    assert computing(module) == ["top.GroupNorm"]


@pytest.mark.parametrize("affine", [True, False])
def test_group_norm_of_channels_last(agree: Agree, affine: bool) -> None:
    """Keras: channels in two dimensions, statistics over all but the groups."""
    image = np.moveaxis(X, 1, 3)
    per_channel = {
        name: RNG.standard_normal((1, 1, 1, 2, 3)).astype(np.float32) for name in ("weight", "bias")
    }
    shapes = {"g": np.array([2, 4, 8, 2, 3]), "back": np.array(image.shape)}
    affine_text = "s=Mul(i,weight) f=Mul(x,s) h=Mul(m,s) t=Sub(bias,h) n=Add(f,t)"
    text = affine_text if affine else "f=Mul(x,i) o=Neg(m) h=Mul(o,i) n=Add(f,h)"
    nodes = parsed(f"x=Reshape(image,g) {MOMENTS} {text} y=Reshape(n,back)")
    for node in nodes:
        for attribute in node.attribute:
            attribute.ints[:] = [1, 2, 4]
    given = {**constants(), **per_channel, **shapes}
    module = agree(nodes, {"image": image}, given, tolerance=1e-4)
    assert computing(module) == ["top.Permute", "top.GroupNorm", "top.Permute"]


def test_moments_spread_over_more_images_are_no_norm(agree: Agree) -> None:
    """The bias has a dimension more than x, and so has the result."""
    text = f"{MOMENTS} f=Mul(x,i) h=Mul(m,i) t=Sub(wide,h) y=Add(f,t)"
    wide = {"wide": X[:1, :1, :1].reshape(1, 1, 1, 1, 8).copy()}
    module = agree(parsed(text), {"x": X}, {**constants(), **wide}, tolerance=1e-4)
    assert "top.LayerNorm" not in computing(module)


def test_groups_with_another_reader_are_no_group_norm(agree: Agree) -> None:
    image = np.moveaxis(X, 1, 3)
    shapes = {"g": np.array([2, 4, 8, 2, 3]), "back": np.array(image.shape)}
    text = f"x=Reshape(image,g) {MOMENTS} f=Mul(x,i) h=Mul(m,i) n=Sub(f,h) z=Reshape(n,back)"
    nodes = parsed(f"{text} w=Reshape(x,back) y=Add(w,z)")
    for node in nodes:
        for attribute in node.attribute:
            attribute.ints[:] = [1, 2, 4]
    module = agree(nodes, {"image": image}, {**constants(), **shapes}, tolerance=1e-4)
    assert "top.GroupNorm" not in computing(module)


def test_variance_over_other_axes_is_no_layer_norm(agree: Agree) -> None:
    nodes = parsed(TEXTS["layer norm, without parameters"][0])
    variance = next(node for node in nodes if node.output[0] == "v")
    variance.attribute[0].ints[:] = [-2]
    module = agree(nodes, {"x": X}, constants(), tolerance=1e-4)
    assert "top.LayerNorm" not in computing(module)


def test_scaled_instance_norm_is_no_group_norm(agree: Agree) -> None:
    shapes = {"s": np.array([0, 3, -1]), "t": np.array(X.shape)}
    scaled = {"i": np.array([1, 2, 3], np.float32), "o": np.zeros(3, np.float32)}
    text = "r=Reshape(x,s) n=InstanceNormalization(r,i,o) y=Reshape(n,t)"
    module = agree(parsed(text), {"x": X}, {**shapes, **scaled}, tolerance=1e-4)
    assert "top.GroupNorm" not in computing(module)


def test_masks_of_one_number_disappear(agree: Agree) -> None:
    """baddbmm of torch: an expanded zero, scaled, is added to the scores."""
    text = "e=Expand(zero,shape) m=Mul(e,half) y=Add(x,m)"
    more = {"shape": np.array(X.shape)}
    nodes = [*parsed(text), helper.make_node("Relu", ["y"], ["z"])]
    module = agree(nodes, {"x": X}, {**constants(), **more}, ["z"])
    assert computing(module) == ["top.Relu"]
