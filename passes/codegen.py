"""The pass `codegen`."""

from dataclasses import dataclass
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xdsl_tpu.backend.bmodel import write_bmodel
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.module_state import State, chip_of, require_state


@dataclass(frozen=True)
class CodegenPass(ModulePass):
    """Write the program of an addressed module to the bmodel file `model_file`.

        tpu-opt net_final.mlir --codegen="model_file=net.bmodel" -o /dev/null

    before: addressed IR; after: the same IR, and the file. `chip`, a name or a `.toml` description,
    is by default `module.chip`. The other options are the vendor's and change nothing: names of
    layers are always in the file, there is one version of it, and `tpu-run --check` checks.
    """

    name = "codegen"

    model_file: str = ""
    chip: str = ""
    embed_debug_info: bool = False
    model_version: str = "latest"
    bmodel_only: bool = False
    gdma_check: bool = True
    rvti: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.model_file:
            raise TpuError(f"{self.name}: give the file to write, model_file=X.bmodel")
        require_state(op, State.TPU_ADDRESSED, self.name)
        path = Path(self.model_file)
        if not path.parent.is_dir():
            raise TpuError(f"{self.name}: {path}: the folder does not exist")
        if path.is_dir():
            raise TpuError(f"{self.name}: {path}: is a directory; name a file")
        chip = chip_of(op, self.chip)
        write_bmodel(generate(op, weights_of(op), chip), path)
