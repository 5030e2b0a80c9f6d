"""What is known about a module besides its text; it follows the module object, not its clones."""

from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import ModuleOp


@dataclass
class ModuleInfo:
    """Where a module came from."""

    base_dir: Path | None = None
    """The directory that file names in the module are relative to."""

    weight_file: Path | None = None
    """The weight file that its text named when it was read, in use or not."""

    ends_with_blank_line: bool = False
    """Whether its text ended in an empty line, as some tools write it."""

    notes: list[str] = field(default_factory=list[str])
    """What passes want its user to know, a line each."""


_INFO: WeakKeyDictionary[ModuleOp, ModuleInfo] = WeakKeyDictionary()


def module_info(module: ModuleOp) -> ModuleInfo:
    """The record of `module`, made when first asked for."""
    return _INFO.setdefault(module, ModuleInfo())
