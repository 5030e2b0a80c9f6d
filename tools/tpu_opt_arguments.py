"""The command line of `tpu-opt`: arguments, pass flags, help and usage errors."""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NoReturn

from xdsl.passes import ModulePass

from xdsl_tpu.passes import PASSES
from xdsl_tpu.passes.pipeline import did_you_mean, option_texts, summary
from xdsl_tpu.tools.errors import UsageError

PassLoader = Callable[[], type[ModulePass]]
PIPELINE_FLAG = "-p"
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class _Request(argparse.Action):
    """Collects pass flags and `-p` pipelines in the order of the command line."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        name = PIPELINE_FLAG if self.metavar == "PIPELINE" else (option_string or "")[2:]
        earlier = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*earlier, (name, values)])


def _wide_help(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=34, width=110)


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
        (("--timing", "--time-passes"), "print a table of seconds per pass, on standard error"),
    ),
    "output": (
        (("--no-locations",), "drop names (locations), which are printed when the input has any"),
        (("--mlir-print-debuginfo",), "print locations even when the input has none"),
        (("--print-debuginfo",), "print locations in place, the form plain xdsl-opt reads"),
        (("--print-op-generic",), "print every operation in the generic form"),
        (("--print-no-properties",), "with --print-debuginfo: print properties as attributes"),
        (("--syntax-highlight",), "with --print-debuginfo: colours"),
    ),
    "checks": (
        (("--disable-verify",), "never verify the IR"),
        (("--verify-diagnostics",), "print errors of verifiers and passes and exit with 0"),
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
    add(PIPELINE_FLAG, "--passes", metavar="PIPELINE", help=pipeline_help, **pipeline)
    add = groups["output"].add_argument
    add("-o", "--output-file", metavar="FILE", help="output, written only on success; '-': stdout")
    add("-t", "--target", default="mlir", help=f"output language: {', '.join(targets)}")
    each = "verify after every pass (default true)"
    booleans: Any = {"nargs": "?", "const": True, "default": True, "type": _boolean}
    groups["checks"].add_argument("--verify-each", metavar="BOOL", help=each, **booleans)
    shown = f"tpu-opt (xdsl-tpu {version('xdsl-tpu')}, xDSL {version('xdsl')})"
    parser.add_argument("-v", "--version", action="version", version=shown)
    for name in _free_names(parser, passes):
        parser.add_argument(f"--{name}", metavar="OPTIONS", help=argparse.SUPPRESS, **pipeline)


def _free_names(parser: argparse.ArgumentParser, names: Iterable[str]) -> list[str]:
    taken = {flag for action in parser._actions for flag in action.option_strings}
    return [name for name in names if f"--{name}" not in taken]


def separate_pass_flags(arguments: Sequence[str], passes: Iterable[str]) -> list[str]:
    """Give bare pass flags an empty value: `--cse x.mlir` must not take `x.mlir` as options."""
    flags = {f"--{name}" for name in passes}
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
            "passes of xDSL and its plugins:",
            *(line for name in others for line in _pass_lines(name, others[name], options=False)),
        )
    )


def _pass_lines(name: str, load: PassLoader, *, options: bool) -> list[str]:
    try:
        pass_class = load()
    except Exception as error:  # whatever is wrong with one pass, the others are listed
        return [f"  --{name:<30} (not available: {error})"]
    lines = [f"  --{name:<30} {summary(pass_class)}".rstrip()]
    if options and (texts := option_texts(pass_class)):
        lines.append(f"{'':<35}{' '.join(texts)}")
    return lines
