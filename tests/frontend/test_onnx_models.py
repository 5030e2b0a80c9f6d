"""The shipped graphs: imported whole, compared with the vendor's importer and onnxruntime."""

import gzip
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of, names_of
from xdsl_tpu.dialects.text import parse_module
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.onnx import import_onnx, refill

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
VENDOR_IR = ROOT / "tests" / "data" / "ir"
Reference = Callable[[onnx.ModelProto, Mapping[str, npt.NDArray[Any]]], list[npt.NDArray[Any]]]
Described = tuple[str, tuple[str | None, ...], tuple[str | None, ...], Mapping[str, Attribute]]


@pytest.fixture(scope="module")
def imported() -> Callable[[str], ModuleOp]:
    """Import an example by name, once."""
    modules: dict[str, ModuleOp] = {}

    def get(name: str) -> ModuleOp:
        if name not in modules:
            modules[name] = import_onnx(EXAMPLES / f"{name}.onnx")
        return modules[name]

    return get


def described(module: ModuleOp) -> list[Described]:
    """Name, operands by name and attributes of every op; weights nobody reads left out."""
    ops: list[Operation] = [op for op in module.walk() if op.name.startswith("top.")]
    used = [op for op in ops if not isinstance(op, top.WeightOp) or op.output.uses]

    def operand(value: SSAValue) -> str | None:
        return None if isinstance(value.owner, top.NoneOp) else name_of(value)

    return [(op.name, names_of(op), tuple(map(operand, op.operands)), op.attributes) for op in used]


@pytest.mark.parametrize("name", ["resnet50", "mobilenetv2_100", "swin_t"])
def test_same_as_the_vendor_importer(imported: Callable[[str], ModuleOp], name: str) -> None:
    """Ops, order, names, operands and attributes are the same, to the letter."""
    text = gzip.decompress((VENDOR_IR / f"{name}_origin.mlir.gz").read_bytes()).decode()
    theirs, ours = parse_module(text), imported(name)
    assert described(ours) == described(theirs)
    assert ours.attributes == theirs.attributes
    assert ours.sym_name == theirs.sym_name


@pytest.mark.parametrize(
    ("name", "outputs"),
    [("resnet50", 1), ("mobilenetv2_100", 1), ("swin_t", 1), ("vit_small_patch16_224", 1),
     ("sd15_unet_narrow", 1)],
)  # fmt: skip
def test_complete_and_ranked(imported: Callable[[str], ModuleOp], name: str, outputs: int) -> None:
    module = imported(name)
    module.verify()
    names = [name for op in module.walk() for name in names_of(op) if op.name != "top.None"]
    tensors = [name for name in names if name is not None]
    assert len(set(tensors)) == len(tensors)
    weights = {str(name_of(op)) for op in module.walk() if isinstance(op, top.WeightOp)}
    assert set(weights_of(module)) == weights
    function = module.ops.first
    assert function is not None
    returned = cast(Any, function).body.block.last_op.operands
    assert len(returned) == outputs


def test_attention_of_the_unet_has_no_masks(imported: Callable[[str], ModuleOp]) -> None:
    """Its exporter adds a zero tensor the size of the scores; no such constant is kept."""
    sizes = [weights_of(imported("sd15_unet_narrow"))[name].size for name in
             weights_of(imported("sd15_unet_narrow"))]  # fmt: skip
    assert max(sizes) < 1_000_000


@pytest.mark.parametrize("name", ["resnet50", "mobilenetv2_100", "swin_t"])
def test_computes_what_onnxruntime_computes(
    imported: Callable[[str], ModuleOp], reference: Reference, name: str
) -> None:
    image = np.random.default_rng(6).standard_normal((1, 3, 224, 224)).astype(np.float32)
    model = refill(onnx.ModelProto.FromString((EXAMPLES / f"{name}.onnx").read_bytes()))
    (expected,) = reference(model, {"input": image})
    (actual,) = run_module(imported(name), {"input": image}).values()
    assert np.abs(actual - expected).max() <= 1e-5 * np.abs(expected).max()
