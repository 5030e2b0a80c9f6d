"""The weights that go with a module's text: found beside the input, left beside the output."""

from collections.abc import Sequence
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects.module_info import module_info


def attach_weights(module: ModuleOp, directory: Path, weight_file: str | None) -> None:
    """Tell `module` where its `module.weight_file` is; nothing is read yet."""
    module_info(module).base_dir = directory.resolve()


def save_weights(modules: Sequence[ModuleOp], directory: Path, output: Path | None) -> None:
    """Save the weights that passes changed."""
