"""From counted instructions to milliseconds on a Raspberry Pi. Estimates: no Pi was measured.

Owns the assumptions about frames, card, lamp line and bulbs. Must not know the emulation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich.table import Table

from hil_tests.arm64.processors import Board
from hil_tests.arm64.reading import NETWORKS

Span = tuple[float, float]
"""The least and the most, milliseconds."""

FRAME_MS = 1000 / 30
FRAMES_MS: Span = (FRAME_MS, 2 * FRAME_MS)
"""From rest, anywhere in a frame, to the beginning of the second frame that shows it."""
CAMERA_MS: Span = (20.0, 128.0)
"""From a frame's beginning to the program. Published: 20 for a Raspberry Pi's camera
(OTL/cv_camera#19), 36 and 128 for USB cameras with 30 frames of MJPEG (pupil-labs/pupil#152)."""
SYNC_MS: Span = (3.0, 75.0)
"""A card's sync, taken as three random writes of 4 kB: 4.7 to 0.17 MB/s of them are published
(pidramble.com, microSD card benchmarks). A card in a machine wrote in 50 to 75 ms on average, and
twice in 3.5 hours it stalled for 4 and 7 s (basicallysource/sorter-v2#595)."""
LINE_MS: Span = (40.0, 65.0)
"""Stage, commit and readback at 115200 bits a second, and bulbs that glow; the virtual box's."""
CONFIRMING = 2
"""Frames that follow the first one."""
SETTLING = "verdict to lit"

TERMS = ("frames", "camera", "reading", "card", "settling", "lamp line")


def reading_ms(board: Board, case: str, measured: Mapping[tuple[str, str], float]) -> Span:
    """One reading."""
    core = board.counted_on
    networks = sum(measured.get((f"{case}/{step}", core), 0.0) for step in NETWORKS)
    return board.milliseconds(networks, measured[case, core] - networks)


def terms_ms(first: Span, confirming: Span, settling: Span) -> dict[str, Span]:
    """What passes from rest to lamps that are seen to glow, part by part."""
    reading = _each(lambda end: _read_ms(first[end], confirming[end]))
    # The record of rest is synced while the dice are read; that of the reading waits for it.
    card = _each(lambda end: SYNC_MS[end] + max(0.0, SYNC_MS[end] - reading[end]))
    return dict(zip(TERMS, (FRAMES_MS, CAMERA_MS, reading, card, settling, LINE_MS), strict=True))


def _read_ms(first: float, confirming: float) -> float:
    """The first frame and those that confirm it, which a fast processor waits for."""
    return max(first + CONFIRMING * confirming, CONFIRMING * FRAME_MS + confirming)


def _each(of: Callable[[int], float]) -> Span:
    return of(0), of(1)


def lit_ms(terms: Mapping[str, Span]) -> Span:
    """From rest to lamps lit."""
    return _each(lambda end: sum(span[end] for span in terms.values()))


def table_of(measured: Mapping[tuple[str, str], float], boards: Sequence[Board]) -> Table:
    """One column a board."""
    table = Table(title="Estimated, ms", caption="One core reads, nothing else runs on it.")
    table.add_column("what")
    columns = []
    for board in boards:
        table.add_column(f"{board.name}, {board.clock_ghz:g} GHz", justify="right")
        first, confirming = (
            reading_ms(board, case, measured) for case in ("first flat frame", "confirming frame")
        )
        settling = board.milliseconds(0.0, measured[SETTLING, board.counted_on])
        columns.append(terms_ms(first, confirming, settling))
    for name in TERMS:
        table.add_row(name, *(_span(terms[name]) for terms in columns))
    table.add_row("rest to lit", *(_span(lit_ms(terms)) for terms in columns))
    table.add_row("largest", *(max(TERMS, key=lambda name: terms[name][1]) for terms in columns))
    slow = "not-flat frame"
    table.add_row(slow, *(_span(reading_ms(board, slow, measured)) for board in boards))
    for what in ("--help", "journal last", "start, both processes"):
        spans = (board.milliseconds(0.0, measured[what, board.counted_on]) for board in boards)
        table.add_row(what, *map(_span, spans))
    return table


def _span(ms: Span) -> str:
    return f"{ms[0]:.0f}-{ms[1]:.0f}"
