"""What a lowering says about numbers that it cannot keep."""

from collections.abc import Collection, Iterable, Mapping

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xdsl_tpu.dialects.integers import EXACT_IN_F32
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.half_range import LARGEST
from xdsl_tpu.passes.lowering.bounds import Bounds, integer_bounds
from xdsl_tpu.passes.lowering.casts import Narrowed
from xdsl_tpu.passes.lowering.context import BF16, F16
from xdsl_tpu.passes.tensors import required_name

EXACT: dict[Attribute, tuple[str, int]] = {F16: ("F16", 1 << 11), BF16: ("BF16", 1 << 8)}
"""Element type -> its name, and up to which magnitude it holds every integer."""

SHOWN = 8
"""Names in one line."""


def named_bounds(func: FuncOp, weights: Weights | None) -> dict[str, Bounds]:
    """Bounds of integers, and of floats that are nothing else, by the names of the values."""
    known = integer_bounds(func, weights)
    return {required_name(value): bounds for value, bounds in known.items()}


def rounded(narrowed: Iterable[Narrowed], known: Mapping[str, Bounds]) -> list[str]:
    """One line for each type that integers are rounded to; none for those it holds exactly."""
    found: dict[tuple[str, int], list[str]] = {}
    for name, element in narrowed:
        kind = ("INT8", 0) if isinstance(element, UniformType) else EXACT.get(element)
        if kind is not None and name in known and known[name].magnitude > max(kind[1], 1):
            found.setdefault(kind, []).append(name)
    return [_line(kind, names) for kind, names in found.items()]


def _line(kind: tuple[str, int], names: Iterable[str]) -> str:
    label, most = kind
    reach = f", which is exact up to {most}" if most else ""
    return f"integers are rounded to {label}{reach}: {_listed(names)}"


def approximated(names: Iterable[str]) -> list[str]:
    """A line for ops whose integers are computed in f32."""
    shown = _listed(names)
    if not shown:
        return []
    return [f"integers are computed in F32, which is exact up to {EXACT_IN_F32}: {shown}"]


def beyond_f16(wide: Mapping[str, float], saturated: Mapping[str, float]) -> list[str]:
    """Lines for constants that f16 cannot hold, by the names of the ops that have them.

    Those of `wide` are why ops run in F32; those of `saturated` are its largest number instead, or
    half of that.
    """
    lines: list[str] = []
    if wide:
        lines.append(f"constants that F16 cannot hold keep ops in F32: {_sized(wide)}")
    if saturated:
        most = f"at most {LARGEST:.0f} where more makes no difference (masks)"
        lines.append(f"constants beyond F16 are {most}: {_sized(saturated)}")
    return lines


def _sized(constants: Mapping[str, float]) -> str:
    shown = [f"'{name}' ({size:.3g})" for name, size in constants.items()]
    more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    return ", ".join(shown[:SHOWN]) + more


def without_effect(table: str, names: Collection[str]) -> list[str]:
    """A line for names in a quantize table that no op has."""
    if not names:
        return []
    verbs = ("names", "counts") if len(names) == 1 else ("name", "count")
    return [
        f"quantize table {table}: {len(names)} of its lines {verbs[0]} no op of the model, and "
        f"{verbs[1]} for nothing: {_listed(names)}; op names are those of top.mlir"
    ]


def beyond_32_bits(names: Iterable[str]) -> list[str]:
    """A line for integers that may wrap."""
    shown = _listed(names)
    return [f"integers may need more than 32 bits, and wrap then: {shown}"] if shown else []


def _listed(names: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(names))
    more = f" and {len(distinct) - SHOWN} more" if len(distinct) > SHOWN else ""
    return ", ".join(f"'{name}'" for name in distinct[:SHOWN]) + more
