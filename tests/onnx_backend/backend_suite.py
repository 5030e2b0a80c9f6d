"""The ONNX project's backend tests, one at a time, through import, compilation and simulation.

A node test gives everything as a graph input, sizes and weights too. A static compiler needs some
of them when it compiles, so inputs become constants in three steps, the next only when the one
before is refused: the parameters of an op (`PARAMETERS`), all integers and booleans, and all inputs
but the first. A test whose every input would become a constant is not run that way: nothing would
be left to compute.

Values are compared at the tolerance of the test. Everything is computed in f32, so outputs in a
16-bit type are rounded to it first, and may differ by two units in the last place: the expected
values come from steps rounded one by one.
"""

import signal
import traceback
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, defs, numpy_helper
from onnx.backend.test import loader

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.dialects.errors import OpsError, TpuError
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.pipelines import lower

Array = npt.NDArray[Any]

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")
STEPS = ("parameters", "parameters, integers", "all but the first")
"""Inputs that are made constants, in the order in which that is tried."""

PASSED, FAILED, UNSUPPORTED, CRASH = "passed", "failed", "unsupported", "crash"

PARAMETERS = frozenset(
    {
        *("axes", "axis", "block_shape", "constant_value", "depth", "ends", "image_shape", "k"),
        *("max", "min", "output_shape", "pads", "ratio", "repeats", "roi", "scales", "shape"),
        *("size", "sizes", "split", "starts", "steps", "training_mode", "values"),
        *("sequence_lens", "target_type", "dft_length", "frame_length", "frame_step"),
        *("TopK.K", "Range.start", "Range.limit", "Range.delta"),
    }
)
"""Names, in the ONNX specification, of inputs that are constant in networks."""

SHORT = {"float16": 2.0**-9, "bfloat16": 2.0**-6}
"""16-bit types and two units in the last place, relative to the value."""

LIGHT = "light"
LARGEST_EXACT = 1 << 24
SECONDS = {"real": 900}
DEFAULT_SECONDS = 60


@dataclass(frozen=True)
class Outcome:
    """What became of a test; `baked` is the step (of `STEPS`) of constants it took."""

    name: str
    kind: str
    op: str
    status: str
    reason: str = ""
    baked: str = ""
    float_only: bool = False


@dataclass(frozen=True)
class Case:
    """One test: a model, and pairs of inputs and expected outputs."""

    name: str
    kind: str
    model: onnx.ModelProto
    data: Sequence[tuple[Sequence[Any], Sequence[Any]]]
    rtol: float
    atol: float

    @property
    def op(self) -> str:
        """The op it is about: that of its first node, or of the test it expands."""
        if self.kind != "node":
            return self.kind
        plain = self.name.partition("_expanded")[0]
        return _op_types().get(plain, self.model.graph.node[0].op_type)

    @property
    def float_only(self) -> bool:
        """Whether all inputs and outputs are float32."""
        values = [*self.model.graph.input, *self.model.graph.output]
        return all(v.type.tensor_type.elem_type == TensorProto.FLOAT for v in values)


@cache
def _tests(kind: str) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # expected values that overflow on purpose
        return {test.name: test for test in loader.load_model_tests(kind=kind)}


@cache
def _op_types() -> dict[str, str]:
    return {name: test.model.graph.node[0].op_type for name, test in _tests("node").items()}


def case_names(kind: str) -> list[str]:
    """All tests of a kind, in alphabetical order."""
    return sorted(_tests(kind))


def load_case(kind: str, name: str) -> Case:
    """The test with its data."""
    test = _tests(kind)[name]
    if test.model is not None:
        return Case(name, kind, test.model, test.data_sets, test.rtol, test.atol)
    if test.model_dir is None:
        return _light_case(test)
    folder = Path(test.model_dir)
    model = onnx.ModelProto.FromString((folder / "model.onnx").read_bytes())
    data = [(_tensors(one, "input"), _tensors(one, "output")) for one in folder.glob("*_set_*")]
    return Case(name, kind, model, data, test.rtol, test.atol)


def _light_case(test: Any) -> Case:
    """A network of the wheel; its input is the ramp that the suite's own runner makes."""
    file = Path(loader.DATA_DIR) / LIGHT / Path(test.url).name
    model = onnx.ModelProto.FromString(file.read_bytes())
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs = [_ramp(value) for value in model.graph.input if value.name not in weights]
    outputs = [_tensor(one) for one in sorted(file.parent.glob(f"{file.stem}_output_*.pb"))]
    return Case(test.name, test.kind, model, [(inputs, outputs)], test.rtol, test.atol)


def _ramp(value: onnx.ValueInfoProto) -> Array:
    shape = [dim.dim_value or 1 for dim in value.type.tensor_type.shape.dim]
    size = int(np.prod(shape))
    return (np.arange(size).reshape(shape) / size).astype(np.float32)


def _tensors(folder: Path, stem: str) -> list[Any]:
    files = sorted(folder.glob(f"{stem}_*.pb"), key=lambda one: int(one.stem.partition("_")[2]))
    return [_tensor(file) for file in files]


def _tensor(file: Path) -> Array:
    return numpy_helper.to_array(TensorProto.FromString(file.read_bytes()))


def run_case(kind: str, name: str) -> Outcome:
    """Run one test; nothing escapes."""
    op = kind
    float_only = False
    try:
        case = load_case(kind, name)
        op, float_only = case.op, case.float_only
        with _limited(SECONDS.get(kind, DEFAULT_SECONDS)):
            status, reason, baked = status_of(case)
    except TimeoutError as error:
        status, reason, baked = FAILED, str(error), ""
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        status, reason, baked = CRASH, f"{type(error).__name__}: {error} ({where})", ""
    return Outcome(name, kind, op, status, " ".join(reason.split()), baked, float_only)


@contextmanager
def _limited(seconds: int) -> Generator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def status_of(case: Case) -> tuple[str, str, str]:
    """Status, reason and step of constants of a test."""
    first = ""
    for step, names in constant_inputs(case).items():
        try:
            wrong = [_difference(case, i, o, names) for i, o in case.data]
        except TpuError as error:
            first = first or _reason(error)
            continue
        reason = next(filter(None, wrong), "")
        return (FAILED if reason else PASSED), reason, step
    return UNSUPPORTED, first, ""


def _reason(error: TpuError) -> str:
    if isinstance(error, OpsError):
        return "; ".join(f"{problem.op}: {problem.reason}" for problem in error.problems)
    return str(error)


def constant_inputs(case: Case) -> dict[str, frozenset[str]]:
    """Names of the inputs that become constants, by step; steps that add nothing are left out."""
    graph = case.model.graph
    weights = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in weights]
    names = [value.name for value in inputs]
    parameters = frozenset(
        n for n, formal in zip(names, _formal_names(case), strict=False) if formal
    )
    whole = frozenset(
        value.name
        for value in inputs
        if value.type.tensor_type.elem_type not in (TensorProto.FLOAT, TensorProto.FLOAT16)
    )
    steps = dict(zip(STEPS, (parameters, parameters | whole, frozenset(names[1:])), strict=True))
    kept = {step: chosen for step, chosen in steps.items() if len(chosen) < max(len(names), 1)}
    first = {chosen: step for step, chosen in reversed(kept.items())}
    return {step: chosen for step, chosen in kept.items() if first[chosen] == step}


def _formal_names(case: Case) -> list[bool]:
    """For each input of the graph: is it a parameter by the specification?"""
    if case.kind != "node":
        return []
    plain = _tests("node").get(case.name.partition("_expanded")[0])
    node = (plain.model if plain is not None else case.model).graph.node[0]
    opset = max((o.version for o in case.model.opset_import if not o.domain), default=1)
    try:
        schema = defs.get_schema(node.op_type, opset, node.domain)
    except defs.SchemaError:
        return []
    formal = [schema.inputs[min(i, len(schema.inputs) - 1)].name for i in range(len(node.input))]
    known = {
        actual: name in PARAMETERS or f"{node.op_type}.{name}" in PARAMETERS
        for actual, name in zip(node.input, formal, strict=True)
        if actual
    }
    return [known.get(value.name, False) for value in case.model.graph.input]


def _difference(
    case: Case, inputs: Sequence[Any], expected: Sequence[Any], names: frozenset[str]
) -> str:
    """What is wrong with the values the machine gives; empty when nothing is."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    weights = {tensor.name for tensor in model.graph.initializer}
    free = [value for value in model.graph.input if value.name not in weights]
    values = dict(zip((value.name for value in free), inputs, strict=False))
    kept = [value for value in model.graph.input if value.name not in names]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    model.graph.initializer.extend(_proto(name, values[name]) for name in sorted(names))
    live = {name: value for name, value in values.items() if name not in names}
    got = simulate(model, live)
    return next(filter(None, (_wrong(case, g, e) for g, e in zip(got, expected, strict=True))), "")


def _proto(name: str, value: Any) -> TensorProto:
    if isinstance(value, TensorProto):
        tensor = TensorProto()
        tensor.CopyFrom(value)
        tensor.name = name
        return tensor
    if isinstance(value, list):
        raise TpuError(f"input '{name}' is not a tensor")
    array: Array = np.asarray(value)
    return numpy_helper.from_array(array, name)


def simulate(model: onnx.ModelProto, inputs: dict[str, Any]) -> list[Array]:
    """The model's outputs from the machine, compiled in F32, in the model's order.

    Raises TpuError for whatever part of the way refuses the model or its inputs.
    """
    chip = load_chip("bm1684x")
    shapes = {name: shape for name, value in inputs.items() if (shape := _shape(value))}
    module = import_onnx(model, shapes)
    lower(module, "F32", chip.instruction_set)
    program = generate(module, weights_of(module), chip)
    wanted = {tensor.name: tensor.shape for tensor in program.inputs}
    feeds = {
        name: _as_float32(name, value).reshape(wanted[name])
        for name, value in inputs.items()
        if name in wanted
    }
    return list(run_program(program, chip, feeds).values())


def _shape(value: Any) -> tuple[int, ...]:
    """Sizes, all positive, that `input_shapes` may give; empty for anything else."""
    dims = tuple(int(size) for size in getattr(value, "shape", ()))
    return dims if all(dims) else ()


def _as_float32(name: str, value: Any) -> Array:
    """An input as the machine takes it; TpuError when float32 does not hold it."""
    array = numpy_helper.to_array(value) if isinstance(value, TensorProto) else np.asarray(value)
    if (
        array.dtype.kind in "iu"
        and array.size
        and np.abs(array.astype(float)).max() > LARGEST_EXACT
    ):
        raise TpuError(f"input '{name}' has integers that float32 cannot hold")
    try:
        return array.astype(np.float32)
    except (TypeError, ValueError) as error:
        raise TpuError(f"input '{name}' has no numbers ({array.dtype})") from error


def _wrong(case: Case, got: Array, expected: Any) -> str:
    """Why an output is not the expected one at the test's tolerance; empty when it is."""
    if isinstance(expected, TensorProto):
        expected = numpy_helper.to_array(expected)
    wanted = np.asarray(expected)
    if tuple(got.shape) != (wanted.shape or (1,)):
        return f"shape {got.shape}, expected {wanted.shape}"
    rtol = case.rtol
    if wanted.dtype.name in SHORT:
        got = got.astype(wanted.dtype)
        rtol = max(rtol, SHORT[wanted.dtype.name])
    a, b = got.astype(np.float64), wanted.astype(np.float64).reshape(got.shape)
    close = np.isclose(a, b, rtol=rtol, atol=case.atol, equal_nan=True)
    if close.all():
        return ""
    bad = np.flatnonzero(~close.reshape(-1))
    at = int(bad[0])
    return (
        f"{bad.size} of {a.size} values differ, the first at {at}: "
        f"{a.reshape(-1)[at]:.7g}, expected {b.reshape(-1)[at]:.7g}"
    )
