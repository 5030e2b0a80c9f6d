"""The layers of a 16-bit program that need wider formats, found from sample inputs.

F16 ends at 65504: layers that come near it on the samples get BF16 (products) or F32. If the
outputs are then farther from the float network's than wanted, BF16 gives way to F32, and layers
whose rounding costs the outputs most for the cycles that they save follow, as in `mixture`.
"""

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.integers import is_integer_tensor
from xdsl_tpu.dialects.main_function import find_main
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.calibration.complete import complete_ranges
from xdsl_tpu.passes.calibration.table import CalibrationTable
from xdsl_tpu.passes.lowering.op_modes import FALLBACK, float_mode
from xdsl_tpu.passes.tensors import functions
from xdsl_tpu.tools.mixing.layers import Layers
from xdsl_tpu.tools.mixing.mixture import EVALUATIONS, WIDER, Mixture, out_of_reach
from xdsl_tpu.tools.mixing.network import Network
from xdsl_tpu.tools.mixing.search import choose, measure

STAY = (top.InputOp, top.WeightOp, top.NoneOp)

NARROW = ("F16", "BF16")


def beyond_f16(module: ModuleOp) -> dict[str, str]:
    """Op name -> wider format, for ops of a calibrated module that F16 may be too narrow for."""
    found: dict[str, str] = {}
    for func in functions(module):
        complete_ranges(func)
    for op in find_main(module)[1].body.block.ops:
        if op.dialect_name() != top.Top.name or isinstance(op, STAY) or not op.results:
            continue
        result = op.results[0]
        if is_none(result) or is_integer_tensor(result):
            continue
        mode = float_mode(op)
        if mode != FALLBACK:
            found[name_of(result) or ""] = mode
    return found


def find_float_mixture(
    network: Network,
    table: CalibrationTable,
    goal: float | None,
    on_step: Callable[[str], None] = lambda text: None,
) -> Mixture:
    """Formats of layers of a network in F16 or BF16; its cosine on the samples with them.

    Nothing is measured without a `goal`: then only what F16 may not hold is kept out of it.
    Raises TpuError when the goal is out of reach.
    """
    modes = beyond_f16(network.calibrated(table)) if network.mode == "F16" else {}
    best = Mixture(modes, network.cosine(table, modes))
    if goal is None or best.cosine >= goal:
        return best
    wide = dict.fromkeys(modes, "F32")
    if "BF16" in modes.values():
        best = Mixture(wide, network.cosine(table, wide))
        if best.cosine >= goal:
            return best
    on_step("looking for layers to keep in F32")
    return _in_f32(network, table, wide, goal)


def _in_f32(
    network: Network, table: CalibrationTable, wide: Mapping[str, str], goal: float
) -> Mixture:
    """The fewest layers in F32 that meet the goal, those of `wide` among them."""
    layers = Layers.of(network, table)
    named = {op: name_of(op.results[0]) or "" for op in layers.default}
    narrow = {
        op: mode for op, mode in layers.default.items() if mode in NARROW and named[op] not in wide
    }
    limit = 2 * (1 - goal)
    noise_of = layers.noise_in(narrow, len(network.samples))
    blocks = measure(list(narrow), noise_of, limit, EVALUATIONS)
    best = Mixture(wide, -1.0)
    for tightness in (*WIDER, 0.0):
        _, held = choose(blocks, layers.rates.saved, limit * tightness)
        best = _tried(network, table, {**wide, **{named[op]: "F32" for op in held}})
        if best.cosine >= goal:
            return best
    raise out_of_reach(goal, best, network.lowered(table, best.modes))


def _tried(network: Network, table: CalibrationTable, modes: Mapping[str, str]) -> Mixture:
    return Mixture(modes, network.cosine(table, modes))
