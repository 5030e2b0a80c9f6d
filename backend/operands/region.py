"""An access as plain byte patterns: a start, nested steps, and a run of bytes at every step."""

from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.operands.access import Access


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes start + sum(i * step) + [0, run) for every index i of the nested loops.

    Offsets count from the start of local memory (lanes back to back) or of the address space.
    Loops that repeat the same bytes are left out, runs that touch are one run.
    """

    start: int
    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    run: int

    @property
    def end(self) -> int:
        """The byte behind the last one."""
        last = sum((n - 1) * step for n, step in zip(self.sizes, self.steps, strict=True))
        return self.start + last + self.run


def regions(access: Access, chip: Chip) -> tuple[Region, ...]:
    """The bytes of an access, cut where its channels wrap around the lanes."""
    n, c, h, w = access.shape
    size = access.size
    sn, sc, sh, sw = (stride * size for stride in access.strides)
    if not access.local:
        return (_joined(access.address, ((n, sn), (c, sc), (h, sh), (w, sw)), size),)
    lane, offset = divmod(access.address, chip.local_bytes)
    found: list[Region] = []
    for first_lane, group, groups, lanes in _lane_blocks(lane, c, chip.lanes):
        start = first_lane * chip.local_bytes + offset + group * sc
        loops = ((lanes, chip.local_bytes), (n, sn), (groups, sc), (h, sh), (w, sw))
        found.append(_joined(start, loops, size))
    return tuple(found)


def _lane_blocks(lane: int, channels: int, lanes: int) -> list[tuple[int, int, int, int]]:
    """(first lane, first group, groups, lanes) of the head, the full groups and the tail."""
    head = min(channels, lanes - lane)
    blocks = [(lane, 0, 1, head)] if lane or head < lanes else []
    group = len(blocks)
    rest = channels - head * group
    if full := rest // lanes:
        blocks.append((0, group, full, lanes))
        group += full
    if tail := rest % lanes:
        blocks.append((0, group, 1, tail))
    return blocks


def _joined(start: int, loops: tuple[tuple[int, int], ...], size: int) -> Region:
    """Grow the run by every loop, innermost first, that continues where the run ends."""
    kept: list[tuple[int, int]] = []
    run = size
    for count, step in reversed(loops):
        if count == 1 or step == 0:
            continue
        if step == run and not kept:
            run *= count
        elif kept and step == kept[-1][0] * kept[-1][1]:
            kept[-1] = (kept[-1][0] * count, kept[-1][1])
        else:
            kept.append((count, step))
    kept.reverse()
    return Region(start, tuple(n for n, _ in kept), tuple(s for _, s in kept), run)
