"""Names of a package that are imported when they are first used.

    __getattr__ = later(__name__, {"run_module": "runner"})

in a package's `__init__`, beside the import under `TYPE_CHECKING`. Who wants one module of such a
package does not wait for the others.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def later(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's `__getattr__`: each name is found in that module below the package."""

    def getattr_(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return getattr_
