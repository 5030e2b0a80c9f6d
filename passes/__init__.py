"""IR to IR.

`PASSES` is the one table of our passes: name on the command line -> function that imports
the class. Loading is deferred so that listing names costs nothing.
"""

from collections.abc import Callable
from importlib import import_module

from xdsl.passes import ModulePass

PassLoader = Callable[[], type[ModulePass]]


def _lazy(module: str, class_name: str) -> PassLoader:
    """A loader of `xdsl_tpu.passes.<module>.<class_name>`."""

    def load() -> type[ModulePass]:
        loaded = getattr(import_module(f"{__name__}.{module}"), class_name, None)
        if loaded is None:
            raise ImportError(f"{__name__}.{module} has no {class_name}")
        assert issubclass(loaded, ModulePass)
        return loaded

    return load


PASSES: dict[str, PassLoader] = {
    "canonicalize": _lazy("canonicalize", "CanonicalizePass"),
    "extra-optimize": _lazy("extra_optimize", "ExtraOptimizePass"),
    "processor-assign": _lazy("processor_assign", "ProcessorAssignPass"),
    "processor-top-optimize": _lazy("processor_top_optimize", "ProcessorTopOptimizePass"),
    "shape-infer": _lazy("shape_infer", "ShapeInferPass"),
}
