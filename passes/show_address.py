"""The passes `show-address` and `net_statistic`, which print and change nothing."""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, NoneType
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.address_assign.assign import divided_parts, optional_address
from xdsl_tpu.passes.flops import flops
from xdsl_tpu.passes.module_state import State, require_state
from xdsl_tpu.passes.tensors import functions, is_weight, size_in_bytes

_NOT_COUNTED = (top.NoneOp, top.WeightOp, top.InputOp, tpu.YieldOp)


@dataclass(frozen=True)
class ShowAddressPass(ModulePass):
    """Print where in DDR every tensor of an addressed module lies, on standard error.

        0x100000000 .. 0x100024bff   150528 bytes  weight      conv1_filter
        0x100025000 .. 0x10005ffff   241664 bytes  tpu.Conv2D  conv1

    before and after: the same IR.
    """

    name = "show-address"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TPU_ADDRESSED, self.name)
        rows = sorted(_rows(op))
        widest = max((len(str(size)) for _, size, _, _ in rows), default=0)
        kinds = max((len(kind) for _, _, kind, _ in rows), default=0)
        for address, size, kind, name in rows:
            last = address + max(size, 1) - 1
            print(
                f"{address:#x} .. {last:#x}  {size:>{widest}} bytes  {kind:<{kinds}}  {name}",
                file=sys.stderr,
            )


def _rows(module: ModuleOp) -> Iterator[tuple[int, int, str, str]]:
    """Address, bytes, what makes it and name of each tensor in DDR."""
    _, _, func = divided_parts(module)
    for value in _values(func.body.block):
        address = optional_address(value)
        if address is None:
            continue
        owner = value.owner
        kind = "weight" if is_weight(value) else getattr(owner, "name", "input")
        yield address, size_in_bytes(value), str(kind or "input"), name_of(value) or ""


def _values(block: Block) -> Iterator[SSAValue]:
    yield from block.args
    for op in block.ops:
        yield from (result for result in op.results if not isinstance(result.type, NoneType))


@dataclass(frozen=True)
class NetStatisticPass(ModulePass):
    """Print how many ops of each kind a network has, and its work, on standard error.

        tpu.Conv2D     53   4.09e+09 operations

    before and after: the same IR. A multiply-accumulate counts as two operations; of ops whose work
    is not known, such as those of tpu IR, only the number is given.
    """

    name = "net_statistic"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        count: Counter[str] = Counter()
        work: Counter[str] = Counter()
        for func in functions(op):
            for inner in func.body.walk():
                if isinstance(inner, _NOT_COUNTED) or inner.dialect_name() not in ("top", "tpu"):
                    continue
                count[inner.name] += 1
                work[inner.name] += flops(inner)
        widest = max(map(len, count), default=0)
        for name, number in sorted(count.items(), key=lambda item: (-item[1], item[0])):
            told = f"   {work[name]:.2e} operations" if work[name] else ""
            print(f"{name:<{widest}}  {number:6d}{told}", file=sys.stderr)
