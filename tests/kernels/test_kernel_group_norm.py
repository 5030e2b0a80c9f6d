"""Group and instance normalisation against the interpreter."""

import pytest
from tests.kernels.harness import Case, check

GROUPS = (((1, 64, 8, 8), 32), ((2, 96, 16, 16), 32), ((2, 12, 5), 4), ((1, 6, 7, 3), 1))


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("parameters", ["none", "weight", "bias", "both"])
@pytest.mark.parametrize(("shape", "groups"), GROUPS, ids=str)
def test_group_norm(kind: str, shape: tuple[int, ...], groups: int, parameters: str) -> None:
    case = Case(kind)
    operands = [case.input("x", shape, 2.0)]
    size = (1, shape[1], *(1 for _ in shape[2:]))
    operands.append(case.weight("w", size) if parameters in ("weight", "both") else "none")
    operands.append(case.weight("b", size) if parameters in ("bias", "both") else "none")
    attributes = {"num_groups": f"{groups} : i64", "eps": "1.0e-5 : f64"}
    case.op("tpu.GroupNorm", [*operands, "none", "none"], attributes, "y", shape)
    check(case)


@pytest.mark.parametrize("kind", ["f32", "f16"])
def test_instance_norm(kind: str) -> None:
    case = Case(kind)
    x = case.input("x", (2, 70, 9, 9))
    parameters = [case.weight(name, (1, 70, 1, 1)) for name in "wb"]
    attributes = {"eps": "1.0e-3 : f64"}
    case.op("tpu.InstanceNorm", [x, *parameters, "none", "none"], attributes, "y", (2, 70, 9, 9))
    check(case)


@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize("shape", [(2, 70, 9, 9), (1, 5, 33)], ids=str)
def test_pixel_norm(kind: str, shape: tuple[int, ...]) -> None:
    case = Case(kind)
    x = case.input("x", shape)
    parameters = [case.weight(name, (1, shape[1], *(1 for _ in shape[2:]))) for name in "wb"]
    attributes = {"eps": "1.0e-5 : f64"}
    case.op("tpu.PixelNorm", [x, *parameters, "none", "none"], attributes, "y", shape)
    check(case)


@pytest.mark.parametrize("kind", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("shape", [(2, 70, 96), (1, 5, 3, 33), (2, 64, 6, 10)], ids=str)
def test_rms_norm(kind: str, shape: tuple[int, ...]) -> None:
    case = Case(kind)
    operands = [case.input("x", shape, 2.0), case.weight("w", shape[-1:])]
    case.op("tpu.RMSNorm", operands, {"eps": "1.0e-5 : f64"}, "y", shape)
    check(case)


@pytest.mark.parametrize("kind", ["f32", "f16"])
@pytest.mark.parametrize("relu", ["false", "true"])
def test_scale(kind: str, relu: str) -> None:
    case = Case(kind)
    operands = [case.input("x", (2, 70, 9, 8))]
    operands += [case.weight(name, (1, 70, 1, 1)) for name in "sb"]
    case.op("tpu.Scale", [*operands, "none"], {"do_relu": relu}, "y", (2, 70, 9, 8))
    check(case)
