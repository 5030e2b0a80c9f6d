"""Ops that read one large weight next to each other, so that one load of it serves them all.

A head that looks at several sizes of an image, or two images that go through one network, are
written one image after the other, and every one of them would load all the weights.
"""

from collections.abc import Iterable, Iterator
from itertools import accumulate

from xdsl.ir import Block, Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.join_runs import put_in_order
from xdsl_tpu.passes.layer_group.base_groups import ordered_ops
from xdsl_tpu.passes.tensors import is_weight, size_in_bytes

LEAST = 1 << 16
"""Bytes of a weight from which on a load of it counts."""

SHARE = 2
"""What comes together may take one part of so many of local memory."""

HELD = 4
"""Between what reads a weight and what reads it again as well one part of so many of local memory
may be filled with other things: so long it is held."""


def gather_users(block: Block, chip: Chip) -> bool:
    """Put ops beside the first one that reads the same weight, and say whether any moved.

        Conv a w, Relu a, Conv a v; Conv b w, Relu b, Conv b v  ->  Conv a w, Conv b w, Relu a,
                                                                    Relu b, Conv a v, Conv b v

    Those of the smallest values first, as far as local memory has room for these.
    """
    ops = ordered_ops(block)
    if not any(_readers(op) for op in ops):
        return False
    order = _Order(ops, chip.local_bytes * chip.lanes).run()
    if order == ops:
        return False
    put_in_order(block, order)
    return True


class _Order:
    """Ops on their way to a new order; sets of them are bits of a number."""

    def __init__(self, ops: list[Operation], local_bytes: int) -> None:
        self._ops, self._room, self._most_held = ops, local_bytes // SHARE, local_bytes // HELD
        self._filled = list(accumulate(_weight_bytes(op) + _result_bytes(op) for op in ops))
        self._place = {op: place for place, op in enumerate(ops)}
        self._done, self._order = 0, list[Operation]()
        self._needs: list[int] = []
        for op in ops:
            owners = (value.owner for value in op.operands)
            makers = (self._place.get(o) for o in owners if isinstance(o, Operation))
            found = [maker for maker in makers if maker is not None]
            self._needs.append(_set(found) | self._all_needed(found))

    def run(self) -> list[Operation]:
        """The order."""
        for place in range(len(self._ops)):
            if not self._done >> place & 1:
                together = self._together(place)
                needed = self._all_needed(together) & ~self._done & ~_set(together)
                self._put(_members(needed))
                self._put(sorted(together))
        return self._order

    def _put(self, places: Iterable[int]) -> None:
        for place in places:
            self._order.append(self._ops[place])
            self._done |= 1 << place

    def _missing(self, place: int) -> int:
        return self._needs[place] & ~self._done

    def _together(self, first: int) -> list[int]:
        """The place of an op and those of others that come to it."""
        free = self._free_readers(first)
        together, needed, taken = [first], 0, _bytes(self._ops[first])
        for place in sorted(free, key=lambda p: (_bytes(self._ops[p]), p)):
            missing = self._missing(place) & ~(1 << first)
            if missing & _set(together) or needed >> place & 1:
                continue
            taken += _bytes(self._ops[place])
            taken += sum(_result_bytes(self._ops[one]) for one in _members(missing & ~needed))
            if taken > self._room:
                break
            together.append(place)
            needed |= missing
        return together

    def _free_readers(self, first: int) -> Iterator[int]:
        for op in _readers(self._ops[first]):
            place = self._place.get(op)
            if place is None or place <= first or self._done >> place & 1:
                continue
            between = self._filled[place - 1] - self._filled[first]
            if between > self._most_held and not self._needs[place] >> first & 1:
                yield place

    def _all_needed(self, places: Iterable[int]) -> int:
        return _union(self._needs[place] for place in places)


def _readers(op: Operation) -> set[Operation]:
    """All that reads a large weight of an op, if that is not the op alone."""
    large = [v for v in op.operands if is_weight(v) and size_in_bytes(v) >= LEAST]
    found = {use.operation for value in large for use in value.uses}
    return found if len(found) > 1 else set()


def _union(sets: Iterable[int]) -> int:
    found = 0
    for one in sets:
        found |= one
    return found


def _weight_bytes(op: Operation) -> int:
    return sum(size_in_bytes(value) for value in op.operands if is_weight(value))


def _set(places: Iterable[int]) -> int:
    return _union(1 << place for place in places)


def _members(places: int) -> Iterator[int]:
    while places:
        yield (places & -places).bit_length() - 1
        places &= places - 1


def _bytes(op: Operation) -> int:
    read = (v for v in op.operands if not is_none(v) and not is_weight(v))
    return sum(map(size_in_bytes, read)) + _result_bytes(op)


def _result_bytes(op: Operation) -> int:
    return sum(size_in_bytes(value) for value in op.results if not is_none(value))
