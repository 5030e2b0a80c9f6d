"""Cycles of everything that a group or an op alone is made of, each kind of it measured once.

Equal blocks of a network ask for the same kernels on the same slices again and again; an op's
*signature* (name, attributes, types) finds what has been measured before.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import field
from functools import partial
from typing import Any, TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.layer_cost import least_alone, price_alone
from xdsl_tpu.backend.local.cut_price import Price
from xdsl_tpu.backend.local.cuts import KIND
from xdsl_tpu.backend.local.dry import NOWHERE, value_slice
from xdsl_tpu.backend.local.forms import has_coefficients
from xdsl_tpu.backend.local.gather import gather_cost, reading
from xdsl_tpu.backend.local.measure import (
    Measured,
    Moved,
    Sizes,
    alike_taps,
    from_the_start,
    measure,
    measure_load,
    measure_pack,
    measure_store,
)
from xdsl_tpu.backend.local.overwrite import measure_over
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen, MergesTaps
from xdsl_tpu.dialects.module_info import module_info
from xdsl_tpu.dialects.records import record
from xdsl_tpu.passes.layer_group.absorb import MOST_COMMANDS
from xdsl_tpu.passes.layer_group.lmem_size import allows_split
from xdsl_tpu.passes.layer_group.packable import PACK_BYTES
from xdsl_tpu.passes.layer_group.slicing import Slicing
from xdsl_tpu.passes.layer_group.values import GroupType, Ncdhw
from xdsl_tpu.passes.tensors import is_weight, required_name

_T = TypeVar("_T")

_Found = Measured | DoesNotFit | NoKernel
"""What a kernel takes, or why it cannot work."""

Index = tuple[int, int, int, int, int]
"""The section along n, c, d, h, w."""

_UNKNOWN = object()


@record(frozen=True)
class Part:
    """Which part of every value is looked at: all of it, or one slice. Types of values must not
    change as long as it is used."""

    lanes: int
    slicing: Slicing | None = None
    index: Index = (0, 0, 0, 0, 0)
    found: dict[SSAValue, tuple[Ncdhw, Ncdhw]] = field(
        default_factory=dict[SSAValue, tuple[Ncdhw, Ncdhw]], compare=False
    )

    def sizes(self, value: SSAValue) -> Ncdhw:
        """Sizes along the axes."""
        return self._along(value)[1]

    def starts(self, value: SSAValue) -> Ncdhw:
        """Where it begins in the whole."""
        return self._along(value)[0]

    def _along(self, value: SSAValue) -> tuple[Ncdhw, Ncdhw]:
        found = self.found.get(value)
        if found is None:
            found = self.found[value] = self._asked(value)
        return found

    def _asked(self, value: SSAValue) -> tuple[Ncdhw, Ncdhw]:
        if self.slicing is None:
            return NOWHERE, of_value(value, KIND, self.lanes)
        axes = self.slicing.of[value].all
        parts = [axis[k if len(axis) > 1 else 0] for axis, k in zip(axes, self.index, strict=True)]
        starts, sizes = zip(*parts, strict=True)
        return Ncdhw(*starts), Ncdhw(*sizes)


class Prices:
    """What things cost on a chip, in cycles; what passes have measured for a `module`, once."""

    def __init__(self, chip: Chip, module: ModuleOp | None = None) -> None:
        self.chip, self._whole = chip, Part(chip.lanes)
        measured = {} if module is None else module_info(module).measured
        self._signatures: dict[Hashable, int]
        self._known: dict[Hashable, Any]
        self._signatures, self._known = measured.setdefault(chip, ({}, {}))
        self._signature_of: dict[Operation, int] = {}

    def signature(self, op: Operation) -> int:
        """The same number for ops that differ in nothing but values and names."""
        number = self._signature_of.get(op)
        if number is None:
            operands = tuple((value.type, _weight_kind(value)) for value in op.operands)
            results = tuple(value.type for value in op.results)
            key = (op.name, tuple(sorted(op.attributes.items())), operands, results)
            number = self._signatures.setdefault(key, len(self._signatures))
            self._signature_of[op] = number
        return number

    def forget(self, op: Operation) -> None:
        """Make a new signature for an op whose attributes or types have changed."""
        self._signature_of.pop(op, None)

    def _once(self, key: Hashable, made: Callable[[], _T]) -> _T:
        found = self._known.get(key, _UNKNOWN)
        if found is _UNKNOWN:
            found = self._known[key] = made()
        return found

    def scratch(self, op: Operation, kind: GroupType, slicing: Slicing) -> int:
        """Scratch bytes per lane of an op on its largest slices, and on those where its kernel does
        something else because of their places.

        Raises DoesNotFit when its kernel cannot work on them.
        """
        values = [v for v in (*op.operands, *op.results) if v in slicing.of]
        slices = tuple([slicing.of[value].all for value in values])
        key = ("scratch", self.signature(op), kind, slices)
        found = self._once(key, lambda: self._scratch(op, kind, slicing, values))
        if not isinstance(found, int):
            raise DoesNotFit(f"'{required_name(op)}' ({op.name}): {found}") from found
        return found

    def over(self, op: Operation, operand: SSAValue, scratch: int) -> int | None:
        """TIU cycles of an op with its whole result over one of its operands, in so many bytes of
        scratch memory per lane; None where it cannot be."""
        key = ("over", self.signature(op), list(op.operands).index(operand), scratch)
        sizes = self._whole.sizes
        return self._once(key, lambda: measure_over(op, operand, sizes, KIND, self.chip, scratch))

    def _scratch(
        self, op: Operation, kind: GroupType, slicing: Slicing, values: Sequence[SSAValue]
    ) -> int | DoesNotFit | NoKernel:
        """The same, or why its kernel cannot work on some."""
        sizes = {value: slicing.of[value].largest() for value in values}
        most = self._on_slices(op, sizes.__getitem__, from_the_start, kind=kind)
        if not isinstance(most, Measured):
            return most
        found = self._by_places(op, kind, slicing)
        problem = next((one for one in found if not isinstance(one, Measured)), None)
        if problem is not None:
            return problem
        return max(one.scratch for one in (most, *found) if isinstance(one, Measured))

    def _by_places(self, op: Operation, kind: GroupType, slicing: Slicing) -> list[_Found]:
        """What an op takes on its slices along h and w, if their places matter to it."""
        h, w = (
            max((len(slicing.of[v].along(axis)) for v in op.results if v in slicing.of), default=1)
            for axis in ("h", "w")
        )
        parts = [
            Part(self.chip.lanes, slicing, (0, 0, 0, i, j)) for i in range(h) for j in range(w)
        ]
        if len(parts) == 1 or kind is not KIND:
            return []
        places = {_places(op, part.sizes, part.starts): part for part in parts}
        if len({place for _, place in places}) == 1:
            return []
        return [self._on_slices(op, part.sizes, part.starts) for part in places.values()]

    def _on_slices(
        self,
        op: Operation,
        sizes: Sizes,
        starts: Sizes,
        merging: MergesTaps | None = None,
        kind: GroupType = KIND,
    ) -> _Found:
        """What an op takes on slices, measured once for all of which its kernel sees the same."""
        conv = None
        if merging is not None:
            conv = self.signature(merging), _places(merging, sizes, starts)
        key = ("slices", self.signature(op), kind, conv, _places(op, sizes, starts))
        return self._once(key, partial(self._measured, op, sizes, starts, merging, kind))

    def _measured(
        self,
        op: Operation,
        sizes: Sizes,
        starts: Sizes,
        merging: MergesTaps | None,
        kind: GroupType,
    ) -> _Found:
        try:
            return measure(op, sizes, kind, self.chip, starts, merging)
        except (DoesNotFit, NoKernel) as error:
            return error.with_traceback(None)  # which would keep the op

    def compute(
        self,
        op: Operation,
        part: Part,
        merging: MergesTaps | None = None,
    ) -> int | None:
        """TIU cycles of an op on a part; None when its kernel cannot work on it."""
        made = partial(self._on_slices, op, part.sizes, part.starts, merging)
        if part.slicing is None:  # kernels know the sizes of a whole by its type
            whole = self.signature(op), None if merging is None else self.signature(merging)
            found = self._once(("whole", *whole), made)
        else:
            found = made()
        return found.cycles if isinstance(found, Measured) else None

    def load(
        self,
        user: Operation,
        index: int,
        part: Part,
        merging: MergesTaps | None = None,
    ) -> Moved:
        """What the Load of an operand takes for one of its users."""
        value = user.operands[index]
        if merging is None and isinstance(user, MergesTaps) and index == 0:
            merging = user if any(user.merged_taps()) else None
        own = None
        if merging is not None:
            places = part.sizes, part.starts
            own = (self.signature(merging), alike_taps(value, merging, places, self.chip))
        if has_coefficients(user, index) and part.slicing is not None:
            own = (self.signature(user),)
        form = (user.name, index) if own is None else own
        key = ("load", value.type, user.results[0].type, form, part.sizes(value))
        key = (*key, _weight_kind(value))

        def made() -> Moved:
            return measure_load(user, index, part.sizes, KIND, self.chip, part.starts, merging)

        return self._once(key, made)

    def packed(self, lane_bytes: int) -> float:
        """GDMA cycles of a weight's share in a pack."""
        full = self._once(("pack",), lambda: measure_pack(PACK_BYTES, self.chip))
        return full * lane_bytes / PACK_BYTES

    def store(self, value: SSAValue, part: Part) -> int:
        """GDMA cycles of the Store of a value."""

        def made() -> int:
            return measure_store(value, part.sizes, KIND, self.chip, part.starts)

        key = ("store", value.type, part.sizes(value))
        return self._once(key, made)

    def alone(self, op: Operation) -> Price:
        """What an op's kernel takes from DDR to DDR.

        Nothing for an op without a kernel: it is refused when commands are generated.
        """
        return self._alone(op) or Price(0, 0, 0)

    def least_alone(self, op: Operation) -> Price:
        """What an op takes alone at least, found in far less time."""
        return self._once(("least", self.signature(op)), lambda: least_alone(op, self.chip))

    def has_kernel(self, op: Operation) -> bool:
        """Whether there are commands for an op by itself."""
        return self._alone(op) is not None

    def _alone(self, op: Operation) -> Price | None:
        def made() -> Price | None:
            try:
                return price_alone(op, self.chip)
            except (DoesNotFit, NoKernel):
                return None

        return self._once(("alone", self.signature(op)), made)

    def gathered(self, value: SSAValue, chain: Hashable, part: Part) -> int | None:
        """GDMA cycles of the Load of what absorbed ops (their signatures: `chain`) do to a value.

        None when it takes too many transfers. The ops must be marked as absorbed.
        """
        key = ("gathered", value.type, chain, part.sizes(value), part.starts(value))

        def made() -> int | None:
            read = reading(value)
            assert read is not None
            full = of_value(value, KIND, part.lanes)
            target = value_slice(value, (part.sizes, part.starts), full, self.chip, 0)
            found = gather_cost(target, read.moves, self.chip)
            return None if found is None or found[1] > MOST_COMMANDS else found[0]

        return self._once(key, made)


def _weight_kind(value: SSAValue) -> tuple[bool, bool]:
    """Whether a value is a weight, and one that is laid out like an activation."""
    return is_weight(value), allows_split(value)


def _places(op: Operation, sizes: Sizes, starts: Sizes) -> tuple[Hashable, Hashable]:
    """What a kernel knows of its slices; of starts no more than it looks at."""
    values = [v for v in (*op.operands, *op.results) if not is_none(v)]
    assert isinstance(op, LocalGen)
    place = op.place_key([starts(value) for value in values])
    return tuple([sizes(value) for value in values]), place
