"""The command line of `tpu-opt`: arguments, pass flags, help and usage errors."""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from textwrap import wrap
from typing import Any, NoReturn

from xdsl.passes import ModulePass

from xdsl_tpu.passes import PASSES
from xdsl_tpu.passes.named_pipelines import PIPELINES, pipeline_options
from xdsl_tpu.passes.pipeline import did_you_mean, option_texts, summary
from xdsl_tpu.passes.pipelines import STAGES
from xdsl_tpu.tools.errors import UsageError
from xdsl_tpu.tools.tpu_opt_passes import MLIR_FLAG, XDSL_FLAG

PassLoader = Callable[[], type[ModulePass]]
_WIDTH, _INDENT = 100, 35
"""Columns of the help, and where what is said of a pass begins."""
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


_PIPELINE_FLAGS = {"-p": XDSL_FLAG, "--passes": XDSL_FLAG, MLIR_FLAG: MLIR_FLAG}


class _Request(argparse.Action):
    """Collects pass flags and pipelines in the order of the command line."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        flag = option_string or ""
        name = _PIPELINE_FLAGS.get(flag) or flag.removeprefix("--")
        earlier = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*earlier, (name, values)])


def _wide_help(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=34, width=100)


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _boolean(text: str) -> bool:
    if text.lower() not in _BOOLEANS:
        raise argparse.ArgumentTypeError(f"'{text}' is neither true nor false")
    return _BOOLEANS[text.lower()]


# (flags, help) of the plain switches, by group.
_SWITCHES: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {
    "input": (
        (("--split-input-file",), "treat the parts between lines '// -----' as separate inputs"),
        (("--allow-unregistered-dialect",), "accept operations of unknown dialects"),
    ),
    "passes": (
        (("--print-ir-before-all",), "print the IR before every pass, on standard error"),
        (
            ("--print-ir-after-all", "--print-between-passes"),
            "print the IR after every pass, on standard error",
        ),
        (("--mlir-disable-threading",), "accepted, as passes never run at the same time"),
        (("--list-passes",), "print the names of all passes and pipelines, and their options"),
        (("--timing", "--time-passes"), "print a table of seconds per pass, on standard error"),
    ),
    "output": (
        (("--no-locations",), "drop names (locations), which are printed when the input has any"),
        (
            ("--mlir-print-debuginfo",),
            "name locations by aliases, as mlir-opt does; otherwise they stand in place, which "
            "plain xdsl-opt reads, but in text with aliases that no pass was run on",
        ),
        (("--print-debuginfo",), "print with xDSL's own printer, locations in place"),
        (("--print-op-generic",), "print every operation in the generic form"),
        (("--print-no-properties",), "with --print-debuginfo: print properties as attributes"),
        (("--syntax-highlight",), "with --print-debuginfo: colours"),
    ),
    "checks": (
        (("--disable-verify",), "never verify the IR"),
        (
            ("--verify-diagnostics",),
            "compare errors with those that comments of the input announce, such as "
            "'// expected-error@+1 {{text}}'; of an input with none, print the errors of verifiers "
            "and passes and exit with 0",
        ),
        (("--parsing-diagnostics",), "print parse errors and exit with 0"),
        (("--shrink",), "exit with 0 only if a ShrinkException is raised (for shrinkray)"),
        (("--debug",), "show the Python traceback of an error"),
    ),
}


def add_arguments(
    parser: argparse.ArgumentParser,
    passes: Iterable[str],
    frontends: Iterable[str],
    targets: Iterable[str],
) -> None:
    """Declare everything `tpu-opt` takes; pass flags are accepted but listed by `pass_help`."""
    parser.prog = "tpu-opt"
    parser.usage = 'tpu-opt [FILE] [--PASS[="OPTION=VALUE ..."]]... [-o FILE] [options]'
    parser.allow_abbrev = False
    parser.formatter_class = _wide_help
    parser.error = lambda message: _usage_error(parser, message)
    groups = {title: parser.add_argument_group(title) for title in _SWITCHES}
    for title, switches in _SWITCHES.items():
        for flags, text in switches:
            groups[title].add_argument(*flags, action="store_true", help=text)
    add = groups["input"].add_argument
    add("input_file", nargs="?", metavar="FILE", help="MLIR text; standard input if '-' or absent")
    add("-f", "--frontend", choices=tuple(frontends), default="mlir", help=argparse.SUPPRESS)
    add("--weights", metavar="NPZ", help="weight file, instead of the module's module.weight_file")
    add = groups["passes"].add_argument
    pipeline_help = "pipeline in xDSL's syntax, e.g. 'canonicalize,layer-group{opt=2}'"
    pipeline: Any = {"dest": "requested", "action": _Request, "default": []}
    add(XDSL_FLAG, "--passes", metavar="PIPELINE", help=pipeline_help, **pipeline)
    mlir_help = "pipeline in mlir-opt's syntax, e.g. 'builtin.module(canonicalize,final-pipeline)'"
    add(MLIR_FLAG, metavar="PIPELINE", help=mlir_help, **pipeline)
    for when in ("before", "after"):
        around: Any = {"type": _names, "action": "extend", "default": [], "metavar": "PASS"}
        text = f"print the IR {when} this pass, on standard error; may be repeated"
        add(f"--print-ir-{when}", help=text, **around)
    add = groups["output"].add_argument
    add("-o", "--output-file", metavar="FILE", help="output, written only on success; '-': stdout")
    add("-t", "--target", default="mlir", help=f"output language: {', '.join(targets)}")
    each = "verify after every pass (default true)"
    booleans: Any = {"nargs": "?", "const": True, "default": True, "type": _boolean}
    groups["checks"].add_argument("--verify-each", metavar="BOOL", help=each, **booleans)
    shown = f"tpu-opt (xdsl-tpu {version('xdsl-tpu')}, xDSL {version('xdsl')})"
    parser.add_argument("-v", "--version", action="version", version=shown)
    for name in _free_names(parser, (*passes, *PIPELINES)):
        parser.add_argument(f"--{name}", metavar="OPTIONS", help=argparse.SUPPRESS, **pipeline)


def _free_names(parser: argparse.ArgumentParser, names: Iterable[str]) -> list[str]:
    taken = {flag for action in parser._actions for flag in action.option_strings}
    return [name for name in names if f"--{name}" not in taken]


def separate_pass_flags(arguments: Sequence[str], passes: Iterable[str]) -> list[str]:
    """Give bare pass flags an empty value: `--cse x.mlir` must not take `x.mlir` as options."""
    flags = {f"--{name}" for name in (*passes, *PIPELINES)}
    return [f"{argument}=" if argument in flags else argument for argument in arguments]


def _usage_error(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    """What argparse calls for a wrong command line; near names are offered for unknown flags."""
    _, unrecognised, rest = message.partition("unrecognized arguments: ")
    if not unrecognised:
        raise UsageError(f"{message} (see tpu-opt --help)")
    word = rest.split()[0].partition("=")[0]
    if not word.startswith("-"):
        raise UsageError(f"unexpected argument '{word}': only one input file is possible")
    known = [flag for action in parser._actions for flag in action.option_strings]
    raise UsageError(
        f"unknown option or pass '{word}'{did_you_mean(word, known)} (see tpu-opt --help)"
    )


def pass_help(passes: Mapping[str, PassLoader]) -> str:
    """One line for each pass, ours with their options first, then those of xDSL and plugins."""
    others = {name: load for name, load in passes.items() if name not in PASSES}
    return "\n".join(
        (
            'passes of xdsl-tpu (flags run in command-line order; options as --PASS="A=1 B=x"):',
            *(line for name in PASSES for line in _pass_lines(name, passes[name], options=True)),
            "",
            "pipelines, wherever a pass can be named:",
            *(line for name in PIPELINES for line in _pipeline_lines(name)),
            "",
            "passes of xDSL and its plugins:",
            *(line for name in others for line in _pass_lines(name, others[name], options=False)),
        )
    )


def _pipeline_lines(name: str) -> list[str]:
    stage = PIPELINES[name]
    steps = f"{', '.join(STAGES[stage])}"
    options = " ".join(pipeline_options())
    lines = [f"the passes of stage {stage}: {steps}", options]
    first, *rest = (part for line in lines for part in wrap(line, _WIDTH - _INDENT))
    return [f"  --{name:<30} {first}", *(f"{'':<{_INDENT}}{line}" for line in rest)]


def _pass_lines(name: str, load: PassLoader, *, options: bool) -> list[str]:
    try:
        pass_class = load()
    except Exception as error:  # whatever is wrong with one pass, the others are listed
        return [f"  --{name:<30} (not available: {error})"]
    texts = option_texts(pass_class) if options else []
    told = [*wrap(summary(pass_class), _WIDTH - _INDENT), *wrap(" ".join(texts), _WIDTH - _INDENT)]
    head = f"  --{name:<30} "
    if len(head) > _INDENT or not told:
        return [head.rstrip(), *(f"{'':<{_INDENT}}{line}" for line in told)]
    first, *rest = told
    return [f"{head}{first}", *(f"{'':<{_INDENT}}{line}" for line in rest)]
