"""Which room may import which (docs/architecture.md), read from the sources."""

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = "xdsl_tpu"
ROOMS = ("dialects", "frontend", "passes", "backend", "tools", "api")

MAY_IMPORT: dict[str, set[str]] = {
    "dialects": {"dialects"},
    "frontend": {"frontend", "dialects"},
    "passes": {"passes", "dialects", "backend.chip", "backend.timing", "backend.isa.common",
               "backend.first_fit"},
    # Groups are planned with what local kernels need and what their commands cost.
    "passes.layer_group": {"passes", "dialects", "backend.chip", "backend.timing", "backend.isa",
                           "backend.tensor", "backend.program", "backend.emitter", "backend.local",
                           "backend.first_fit",
                           "backend.leaves",
                           "backend.kernels.support", "backend.layer_cost"},
    # Parts of a network are one op where its commands take less time.
    "passes.measured": {"passes", "dialects", "backend.chip", "backend.timing",
                        "backend.isa", "backend.program", "backend.codegen"},
    "passes.fuse_attention": {"passes", "dialects", "backend.chip", "backend.timing",
                              "backend.isa", "backend.tensor"},
    # A table or floats, by the commands of either.
    "passes.lowering.int8.by_floats": {"passes", "dialects", "backend.chip",
                                       "backend.local.measure"},
    # A value changes its lanes within local memory or through DDR, by the commands of either.
    "passes.lane_prices": {"passes", "dialects", "backend.chip", "backend.local.measure",
                           "backend.local.shapes"},
    # The end of the vendor's command lines: a program in a file.
    "passes.codegen": {"passes", "dialects", "backend.chip", "backend.codegen", "backend.bmodel"},
    "passes.tile_programs": {"passes", "dialects", "backend.chip", "backend.tile"},
    "passes.verify_layer_groups": {"passes", "dialects", "backend.chip", "backend.local.schedule",
                                   "backend.tile"},
    # What a transpose that survives costs, by the commands its kernel emits.
    "passes.report_transposes": {"passes", "dialects", "backend.chip", "backend.layer_cost",
                                 "backend.local.in_group"},
    # Chains of movements are merged by the commands that carry them out.
    "passes.merge_moves": {"passes", "dialects", "backend.chip", "backend.movement",
                           "backend.kernels.support"},
    # So does one that a layout assignment would make.
    "passes.layout.costs": {"passes", "dialects", "backend.chip", "backend.layer_cost"},
    "backend": {"backend", "dialects"},
    "backend.chip": {"backend.chip", "backend.isa", "dialects.errors", "dialects.lanes"},
    "backend.isa": {"backend.isa", "dialects.errors", "dialects.records"},
    "backend.timing": {"backend.timing", "backend.chip", "backend.isa", "backend.tensor",
                       "backend.program", "dialects.errors", "dialects.records"},
    "backend.machine": {"backend.machine", "backend.chip", "backend.isa", "dialects.errors"},
    "tools": set(ROOMS),
    "api": set(ROOMS),
}  # fmt: skip
"""Package -> the packages whose modules its modules may import; the longest match counts."""

THIRD_PARTY: dict[str, set[str]] = {
    "dialects": {"xdsl", "typing_extensions"},  # which xDSL brings
    "dialects.packed_weights": {"numpy"},
    "dialects.weight_grids": {"numpy"},
    "dialects.weights": {"xdsl", "numpy"},
    "dialects.random_masks": {"xdsl", "numpy"},
    "dialects.interpreters": {"xdsl", "typing_extensions", "numpy"},
    "frontend": {"xdsl", "numpy", "onnx", "google"},
    "frontend.llm": {"xdsl", "numpy", "safetensors"},
    "passes": {"xdsl", "numpy"},
    "passes.layout": {"xdsl", "numpy"},
    "backend": {"xdsl", "numpy"},
    "backend.bmodel": {"numpy", "flatbuffers"},
    "backend.chip": set(),
    "backend.isa": set(),
    "backend.timing": {"numpy"},
    "backend.machine": {"numpy"},
    "tools": {"xdsl", "numpy", "onnx", "onnxruntime", "rich"},
    "tools.tpu_generate": {"numpy", "rich", "tokenizers"},
    "tools.sweep": {"onnx", "tomli_w", "distributed", "matplotlib"},
    "tools.image_files": {"numpy", "PIL"},
    # PyTorch and the notebooks are asked for only where the user brings them.
    "api": {"xdsl", "numpy", "onnx", "rich", "torch", "onnxscript", "IPython", "marimo"},
}
"""Package -> what it may import from outside, besides the standard library."""


class Import(NamedTuple):
    """Module `source` imports `target` in this line of its file; both without the package."""

    source: str
    target: str
    where: str


def sources() -> Iterator[tuple[str, Path]]:
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Names of imported modules, those within functions and of literal `import_module` included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "." * node.level, node.lineno
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            text = ast.literal_eval(node.args[0]) if isinstance(node.args[0], ast.Constant) else ""
            if text:
                yield text, node.lineno


@pytest.fixture(scope="module")
def imports() -> list[Import]:
    """All imports of all rooms."""
    found: list[Import] = []
    for source, path in sources():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for target, line in imported(tree):
            found.append(Import(source, target, f"{path.relative_to(ROOT)}:{line}"))
    return found


def rule(rules: Mapping[str, set[str]], module: str) -> set[str]:
    """The entry of the longest package that holds the module."""
    return rules[max((p for p in rules if within(module, p)), key=len)]


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def test_there_is_something_to_check(imports: list[Import]) -> None:
    rooms = {entry.source.split(".")[0] for entry in imports}
    assert rooms == set(ROOMS)
    assert len(imports) > 500


def test_rooms_import_only_what_they_may(imports: list[Import]) -> None:
    wrong = [
        f"{entry.where}: {entry.source} imports {entry.target}"
        for entry in imports
        if within(entry.target, PACKAGE)
        and not any(
            within(entry.target.removeprefix(f"{PACKAGE}."), allowed)
            for allowed in rule(MAY_IMPORT, entry.source)
        )
    ]
    assert not wrong, "\n".join(wrong)


COMMANDS = tuple(f"{PACKAGE}.tools.tpu_{name}" for name in ("calibrate", "compile", "run", "sweep"))


def test_only_the_interface_imports_the_tools(imports: list[Import]) -> None:
    users = [e.where for e in imports if within(e.target, f"{PACKAGE}.tools")]
    assert users
    assert all(where.startswith(("tools/", "api/")) for where in users), users


def test_the_interface_imports_no_command_line(imports: list[Import]) -> None:
    """What a command and the interface share is not in the command's module."""
    taken = [e.where for e in imports if within(e.source, "api") and e.target in COMMANDS]
    assert not taken
    assert {f"{PACKAGE}.{name}" for name, _ in sources()} >= set(COMMANDS)


def test_only_the_tools_import_the_interface(imports: list[Import]) -> None:
    users = [e.source for e in imports if within(e.target, f"{PACKAGE}.api")]
    assert users
    assert all(within(user, "tools") or within(user, "api") for user in users), users


@pytest.mark.parametrize(
    ("one", "other"),
    [("machine", "timing"), ("timing", "machine"), ("machine", "kernels"), ("timing", "kernels")],
)
def test_values_and_cycles_do_not_know_each_other(
    one: str, other: str, imports: list[Import]
) -> None:
    wrong = [
        entry
        for entry in imports
        if within(entry.source, f"backend.{one}")
        and within(entry.target, f"{PACKAGE}.backend.{other}")
    ]
    assert not wrong


def test_the_machine_does_not_see_what_is_declared_of_operands(imports: list[Import]) -> None:
    """It knows commands and their codes, and is the second opinion on what fields mean."""
    allowed = {f"{PACKAGE}.backend.isa{part}" for part in ("", ".codes", ".replay")}
    wrong = [
        entry
        for entry in imports
        if within(entry.source, "backend.machine")
        and within(entry.target, f"{PACKAGE}.backend.isa")
        and entry.target not in allowed
    ]
    assert not wrong


def test_outside_packages(imports: list[Import]) -> None:
    wrong = [
        f"{entry.where}: {entry.source} imports {entry.target}"
        for entry in imports
        if (top := entry.target.split(".")[0]) not in sys.stdlib_module_names
        and top != PACKAGE
        and top not in rule(THIRD_PARTY, entry.source)
    ]
    assert not wrong, "\n".join(wrong)


def test_imports_are_absolute(imports: list[Import]) -> None:
    assert not [entry for entry in imports if entry.target.startswith(".")]


DOORS = (
    *("dialects.text", "frontend.onnx", "passes.pipelines", "backend.codegen", "tools.universe"),
    *("api.program", "api.compiling"),
)


@pytest.mark.parametrize("door", DOORS)
def test_each_room_can_be_imported_first(door: str) -> None:
    """No circle shows up when a process starts with this room."""
    command = [sys.executable, "-c", f"import {PACKAGE}.{door}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
