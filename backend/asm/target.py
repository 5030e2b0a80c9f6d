"""The output language `bm1684x-asm` of xDSL tools: the program of an addressed module."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.target import Target

from xdsl_tpu.backend.asm.disassembler import disassemble
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.kernels.support import ddr_value
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.module_info import module_info
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.weights import WEIGHT_FILE, attached_weights, weights_of


@dataclass(frozen=True)
class AsmTarget(Target):
    """Prints commands; `chip` is the name or the `.toml` file of the chip to generate for.

    The weights are not needed: without their file the coefficients are zeros, and the text gives
    no hash of them. No command depends on a weight's value.

        tpu-opt net_final.mlir -t bm1684x-asm
        tpu-opt net_final.mlir -t 'bm1684x-asm{chip="small.toml"}'
    """

    name = "bm1684x-asm"

    chip: str = "bm1684x"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Generate and print; raises TpuError for what cannot be generated."""
        output.write(disassemble(generate(module, _weights(module), load_chip(self.chip))))


class PlainAsmTarget(AsmTarget):
    """The same for tools that show a traceback of every error: this one ends with its message."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Generate and print; exits with status 1 and the message of a TpuError."""
        try:
            super().emit(ctx, module, output)
        except TpuError as error:
            sys.exit(f"error: {error}")


def _weights(module: ModuleOp) -> Mapping[str, npt.NDArray[Any]]:
    """The module's weights, or zeros when their file is not there."""
    file = module.attributes.get(WEIGHT_FILE)
    folder = module_info(module).base_dir
    found = isinstance(file, StringAttr) and folder is not None and (folder / file.data).is_file()
    if found or attached_weights(module) is not None:
        return weights_of(module)
    return {
        name_of(op) or "": np.zeros(place.elements * place.dtype.bytes, np.uint8)
        for op in module.walk()
        if isinstance(op, top.WeightOp)
        for place in (ddr_value(op.results[0]),)
    }
