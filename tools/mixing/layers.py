"""The layers of a calibrated network that compute something, and the formats that they can have."""

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import BFloat16Type, Float16Type, ModuleOp
from xdsl.ir import Attribute, Operation

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.main_function import find_main
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.quant import UniformType, stored_element
from xdsl_tpu.passes.calibration.table import CalibrationTable
from xdsl_tpu.passes.lowering.fine_parts import MOVES, PARTS
from xdsl_tpu.passes.lowering.op_modes import float_mode
from xdsl_tpu.passes.tensors import element_of, is_weight
from xdsl_tpu.tools.mixing.network import Network, table_digest
from xdsl_tpu.tools.mixing.rates import Rates
from xdsl_tpu.tools.mixing.rounding import STEPLESS, RoundedNetwork, steps_of_lowered

MOVING = (*MOVES, *PARTS, top.InputOp, *STEPLESS)
"""Ops that compute nothing: they follow their neighbours."""

_NARROW: dict[type[Attribute], str] = {Float16Type: "F16", BFloat16Type: "BF16"}


class Layers:
    """The ops of a calibrated network, and what each computes in when nothing is said."""

    def __init__(self, network: Network, table: CalibrationTable) -> None:
        module, lowered = network.calibrated(table), network.lowered(table, {})
        self.network, self.table = network, table_digest(table)
        self.rates = Rates.of(network.chip)
        self.rounded = RoundedNetwork(module, steps_of_lowered(lowered), network.samples[0])
        self.of_sample = {0: self.rounded}
        self.places = {op: place for place, op in enumerate(self.rounded.ops)}
        formats = formats_of(lowered)
        self.default: dict[Operation, str] = {}
        for op in find_main(module)[1].body.block.ops:
            name = name_of(op.results[0]) if op.results else None
            if name is not None and name in formats and not isinstance(op, MOVING):
                self.default[op] = formats[name]
        self.in_8_bits = [op for op, mode in self.default.items() if mode == "INT8"]

    @classmethod
    def of(cls, network: Network, table: CalibrationTable) -> "Layers":
        """Of the network lowered to 8 bits wherever that can be."""
        return cls(network, table)

    def in_float(self) -> dict[Operation, str]:
        """Formats of all when none is in 8 bits."""
        return {
            op: float_mode(op) if mode == "INT8" else mode
            for op, mode in self.default.items()
            if mode != "F32"
        }

    def noise_in(
        self, modes: Mapping[Operation, str], samples: int = 1
    ) -> Callable[[Sequence[Operation]], float]:
        """The function that measures the noise of some ops in these formats; on one sample, or
        the most of it on `samples`."""
        return lambda ops: self.noise({op: modes[op] for op in ops}, samples)

    def noise(self, modes: Mapping[Operation, str], samples: int = 1) -> float:
        """The largest noise of any output on the first `samples` samples."""
        return max(self._noise(modes, place) for place in range(samples))

    def _noise(self, modes: Mapping[Operation, str], place: int) -> float:
        formats = sorted((self.places[op], mode) for op, mode in modes.items())
        depends = [self.table, self.network.digests[place], formats]
        what = f"noise of {len(formats)} layers"
        return self.network.measured(what, depends, lambda: self._on(place).noise(modes))

    def _on(self, place: int) -> RoundedNetwork:
        if place not in self.of_sample:
            self.of_sample[place] = self.rounded.on(self.network.samples[place])
        return self.of_sample[place]

    def modes(self, held: Sequence[Operation], floats: Mapping[Operation, str]) -> dict[str, str]:
        """The lines of a quantize table: `held` are not in 8 bits."""
        kept = set(held)
        found: dict[str, str] = {}
        for op, mode in self.default.items():
            wanted = floats.get(op, "F32") if mode != "INT8" or op in kept else mode
            if wanted != mode:
                found[name_of(op.results[0]) or ""] = wanted
        return found


def formats_of(lowered: ModuleOp, *without: type[Operation]) -> dict[str, str]:
    """Tensor name -> the format that the op that makes it computes in; not of some ops."""
    found: dict[str, str] = {}
    for op in find_main(lowered)[1].body.block.ops:
        if isinstance(op, without):
            continue
        for result in op.results:
            name = name_of(result)
            if name is None or is_none(result) or is_weight(result):
                continue
            element = element_of(result)
            if isinstance(element, UniformType):
                found[name] = "INT8"
            else:
                found[name] = _NARROW.get(type(stored_element(element)), "F32")
    return found
