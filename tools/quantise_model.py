"""From a model and samples to the tables of its program; printing nothing."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.chip.identity import figures_of, fingerprint
from xdsl_tpu.dialects.text import module_text
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.calibration.observe import Observation
from xdsl_tpu.passes.calibration.table import CalibrationTable
from xdsl_tpu.passes.lowering.quantize_table import quantize_table_text
from xdsl_tpu.tools.calibrate_model import Samples, count_samples, header, observe
from xdsl_tpu.tools.engines import Engine
from xdsl_tpu.tools.mixing.automatic import AUTO, Quantised, Wanted, quantise
from xdsl_tpu.tools.mixing.floats import find_float_mixture
from xdsl_tpu.tools.mixing.journal import Journal, Subject, digest
from xdsl_tpu.tools.mixing.mixture import Mixture
from xdsl_tpu.tools.mixing.network import Inputs, Network, sample_digest

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
    journal: Journal | None = None,
) -> Quantised:
    """The tables of a canonical top module. Raises TpuError when the target is out of reach.

    What `journal`, which is of `subject_of` this module and these samples, knows is not measured.
    """
    journal = journal or Journal()
    count = count_samples(samples, limit)

    @cache
    def observed() -> Observation:
        on_step("running the samples")
        return observe(module, engine, samples, limit)[0]

    def tables(method: str, percentile: float) -> CalibrationTable:
        return observed().table(method, percentile, roomy=wanted.method == AUTO)

    known = [inputs for _, inputs in samples.samples(min(VERIFIED, count))]
    judged, others = known[:EVALUATED], known[EVALUATED:]
    with tempfile.TemporaryDirectory() as folder:

        def network_on(inputs: Sequence[Inputs]) -> Network:
            return Network(module, inputs, Path(folder), chip_name, on_trial, journal=journal)

        found = quantise(network_on(judged), tables, wanted, on_step)
        for _ in range(MOST_ADDED):
            if not others or not found.modes or wanted.target is None:
                break
            on_step("looking at other samples")
            cosines = network_on(others).cosines(found.table, found.modes)
            if min(cosines) >= wanted.target:
                break
            judged.append(others.pop(cosines.index(min(cosines))))
            found = quantise(network_on(judged), tables, wanted, on_step)
    found.table.header = header(module, described(found), count)
    return found


def subject_of(
    module: ModuleOp,
    engine: str,
    samples: Samples,
    limit: int | None = None,
    chip_name: str = "bm1684x",
) -> Subject:
    """What the measurements of a search are of: others are worth nothing to it."""
    weights = weights_of(module)
    arrays = [f"{name} {sample_digest({name: weights[name]})}" for name in sorted(weights)]
    inputs = [sample_digest(inputs) for _, inputs in samples.samples(limit)]
    return {
        "version": version("xdsl-tpu"),
        "model": digest("\n".join((module_text(module), *arrays)).encode()),
        "engine": engine,
        "chip": fingerprint(figures_of(load_chip(chip_name))),
        "samples": digest("\n".join(inputs).encode()),
    }


def widened(
    module: ModuleOp,
    engine: Engine,
    samples: Samples,
    mode: str,
    target: float | None,
    chip_name: str = "bm1684x",
    on_step: Callable[[str], None] = lambda text: None,
    journal: Journal | None = None,
) -> Mixture:
    """The wider formats of layers of a program in F16 or BF16, and its cosine on the samples.

    `journal` is as in `quantise_model`. Raises TpuError when the target is out of reach.
    """
    on_step("running the samples")
    observed, count = observe(module, engine, samples)
    judged = [inputs for _, inputs in samples.samples(min(EVALUATED, count))]
    goal = None if target is None else Wanted(target=target).goal
    with tempfile.TemporaryDirectory() as folder:
        network = Network(module, judged, Path(folder), chip_name, mode=mode, journal=journal)
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
