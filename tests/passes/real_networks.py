"""Real networks: the examples, imported, and real top IR with seeded weights; and what passes
make of them."""

import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import make_context, parse_module
from xdsl_tpu.dialects.weights import Weights, attach, weights_of
from xdsl_tpu.dialects.zeros import ZEROS
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.pipeline import make_pass

Array = npt.NDArray[Any]
IR = Path(__file__).parents[1] / "data" / "ir"
EXAMPLES = Path(__file__).parents[2] / "examples"

LOWERING = (("convert-top-to-tpu", "mode=F16 chip=bm1684x"),)
TO_FINAL = (
    # as the vendor's files have it, whose casts stay where lowering put them
    ("processor-tpu-optimize", "merge_depthwise=true disable=CastBeforeMove"),
    ("weight-reorder", "merge_columns=true"),  # likewise
    ("subnet-divide", ""),
    ("op-reorder", ""),
    ("address-assign", ""),
)


@cache
def _imported(name: str) -> ModuleOp:
    return import_onnx(EXAMPLES / f"{name}.onnx")


def example(name: str) -> ModuleOp:
    """A network of examples/ as it is imported, which is done once for all tests."""
    module = _imported(name).clone()
    weights = Weights()
    weights.update(weights_of(_imported(name)))
    attach(module, weights)
    return module


@cache
def real_text(name: str) -> str:
    """A file of tests/data/ir, such as `resnet50_bm1684x_f16_tpu`."""
    return gzip.decompress((IR / f"{name}.mlir.gz").read_bytes()).decode()


def real_module(name: str, with_weights: bool = True) -> ModuleOp:
    """The module of a real file, with seeded weights that keep activations in range.

    Without weights it also names no weight file, so that passes change types only.
    """
    module = parse_module(real_text(name), name)
    if with_weights:
        attach(module, seeded_weights(module))
    else:
        del module.attributes["module.weight_file"]
    return module


def seeded_weights(module: ModuleOp) -> Weights:
    """Normal numbers for every f32 weight, the same for equal names."""
    weights = Weights()
    for op in module.walk():
        if isinstance(op, top.WeightOp):
            name = name_of(op) or ""
            assert isinstance(op.output.type, TensorType)
            weights[name] = seeded(name, op.output.type.get_shape())
    return weights


@cache
def seeded(name: str, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    """Normal numbers; matrices and filters are scaled by what each output sums."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    inputs = int(np.prod(shape[1:])) if len(shape) == 4 else shape[0]
    scale = 1.5 / np.sqrt(max(inputs, 1)) if len(shape) > 1 else 0.1
    values = (rng.standard_normal(shape) * scale).astype(np.float32)
    values.flags.writeable = False
    return values


def apply(module: ModuleOp, *passes: tuple[str, str]) -> ModuleOp:
    """Run passes on a module, verifying it after each."""
    for name, options in passes:
        make_pass(name, options).apply(make_context(), module)
        module.verify()
    return module


@dataclass(frozen=True)
class Fact:
    """What an op is, as far as two compilers can agree on it."""

    op: str
    operands: tuple[str | None, ...]
    attributes: Mapping[str, Attribute]
    types: tuple[Attribute, ...]


OWN = frozenset(("ginfo", ZEROS))
"""Attributes in which the compilers differ, or that only this one has."""

GROUP_OPS = frozenset(("tpu.Load", "tpu.Store", "tpu.Group", "tpu.Yield"))


def facts(module: ModuleOp, with_operands: bool = True) -> dict[str, Fact]:
    """Name -> fact of every named op; addresses and placement inside groups left out."""
    found: dict[str, Fact] = {}
    for op in module.walk():
        name = name_of(op) if op.results else None
        if name is None or op.name in GROUP_OPS:
            continue
        attributes = {key: value for key, value in op.attributes.items() if key not in OWN}
        operands = tuple(name_of(operand) for operand in op.operands) if with_operands else ()
        values: tuple[SSAValue, ...] = (*op.operands, *op.results)
        types = tuple(_without_address(value.type) for value in values)
        found[name] = Fact(op.name, operands, attributes, types)
    return found


def _without_address(kind: Attribute) -> Attribute:
    if isa(kind, TensorType[Attribute]):
        return TensorType(kind.element_type, kind.get_shape())
    return kind


def cosine(a: Array, b: Array) -> float:
    """The cosine of two arrays as vectors."""
    x, y = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    return float(x @ y / np.linalg.norm(x) / np.linalg.norm(y))
