"""From a model and samples to the tables of its program; printing nothing."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.passes.lowering.quantize_table import quantize_table_text
from xdsl_tpu.tools.calibrate_model import Samples, header, observe
from xdsl_tpu.tools.engines import Engine
from xdsl_tpu.tools.mixing.automatic import Quantised, Wanted, quantise
from xdsl_tpu.tools.mixing.floats import find_float_mixture
from xdsl_tpu.tools.mixing.mixture import Mixture
from xdsl_tpu.tools.mixing.network import Network

EVALUATED = 2
"""How many samples accuracy is measured on, at first."""

VERIFIED = 8
"""How many samples layers in wider formats must suffice for."""

MOST_ADDED = 3
"""How many of those that they do not suffice for are measured, too."""


def quantise_model(
    module: ModuleOp,
    engine: Engine,
    samples: Samples,
    wanted: Wanted,
    limit: int | None = None,
    chip_name: str = "bm1684x",
    on_step: Callable[[str], None] = lambda text: None,
    on_trial: Callable[[], None] = lambda: None,
) -> Quantised:
    """The tables of a canonical top module. Raises TpuError when the target is out of reach."""
    on_step("running the samples")
    observed, count = observe(engine, samples, limit)
    known = [inputs for _, inputs in samples.samples(min(VERIFIED, count))]
    judged, others = known[:EVALUATED], known[EVALUATED:]
    with tempfile.TemporaryDirectory() as folder:
        network = Network(module, judged, Path(folder), chip_name, on_trial)
        found = quantise(network, observed, wanted, on_step)
        for _ in range(MOST_ADDED):
            if not others or not found.modes or wanted.target is None:
                break
            on_step("looking at other samples")
            seen = Network(module, others, Path(folder), chip_name, on_trial)
            cosines = seen.cosines(found.table, found.modes)
            if min(cosines) >= wanted.target:
                break
            judged.append(others.pop(cosines.index(min(cosines))))
            network = Network(module, judged, Path(folder), chip_name, on_trial)
            found = quantise(network, observed, wanted, on_step)
    found.table.header = header(module, described(found), count)
    return found


def widened(
    module: ModuleOp,
    engine: Engine,
    samples: Samples,
    mode: str,
    target: float | None,
    chip_name: str = "bm1684x",
    on_step: Callable[[str], None] = lambda text: None,
) -> Mixture:
    """The wider formats of layers of a program in F16 or BF16, and its cosine on the samples.

    Raises TpuError when the target is out of reach.
    """
    on_step("running the samples")
    observed, count = observe(engine, samples)
    judged = [inputs for _, inputs in samples.samples(min(EVALUATED, count))]
    goal = None if target is None else Wanted(target=target).goal
    with tempfile.TemporaryDirectory() as folder:
        network = Network(module, judged, Path(folder), chip_name, mode=mode)
        on_step("looking for layers that need a wider format")
        return find_float_mixture(network, observed.table("max"), goal, on_step)


def described(found: Quantised) -> str:
    """How the thresholds came about."""
    return f"{found.method}, biases corrected" if found.corrected else found.method


def modes_text(found: Quantised, target: float, cycles: tuple[int, int] | None = None) -> str:
    """The quantize table; `cycles` are those without and with it."""
    head = [
        f"# {kept(found.modes)} for a cosine of {target}",
        f"# cosine {found.cosine:.6f} without, {found.reached:.6f} with them",
    ]
    if cycles is not None:
        head.append(f"# cycles {cycles[0]} without, {cycles[1]} with them")
    return "\n".join(head) + "\n" + quantize_table_text(found.modes)


def kept(modes: Mapping[str, str]) -> str:
    """How many layers are in which format, in words."""
    counts = {mode: list(modes.values()).count(mode) for mode in ("F16", "BF16", "F32")}
    words = [f"{count} in {mode}" for mode, count in counts.items() if count]
    if len(words) > 1:
        return f"{len(modes)} layers in wider formats ({', '.join(words)})"
    return f"{len(modes)} layers in {next(iter(modes.values()), 'F16')}"
