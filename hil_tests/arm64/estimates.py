"""From counted instructions to milliseconds on a Raspberry Pi. Estimates: no Pi was measured.

Owns the assumptions about frames, lamp line and bulbs. Must not know the emulation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from hil_tests.arm64.processors import Board
from hil_tests.arm64.reading import NETWORKS

SECOND_FRAME_MS = 75.0
"""From true rest to the second frame that shows it, at 30 frames a second; measured on the virtual
rig, 27 ms of its camera's transfer and decoding among them."""
VERDICT_TO_LIT_MS = 65.0
"""Record, stage, commit, and bulbs warm enough to be measured; measured on the virtual rig."""
CONFIRMING = 2
"""Frames that follow the first one."""

ASSUMPTIONS = (
    "one core, no other load; 30 frames/s; "
    f"{SECOND_FRAME_MS:.0f} ms to the second still frame; three frames one after the other; "
    f"{VERDICT_TO_LIT_MS:.0f} ms from the verdict to measured lamps"
)

Span = tuple[float, float]


def reading_ms(board: Board, case: str, measured: Mapping[tuple[str, str], float]) -> Span:
    """One reading: (least, most)."""
    core = board.counted_on
    networks = sum(measured.get((f"{case}/{step}", core), 0.0) for step in NETWORKS)
    return board.milliseconds(networks, measured[case, core] - networks)


def lit_ms(first: Span, confirming: Span) -> Span:
    """From rest to lamps lit: (least, most)."""
    least, most = (
        SECOND_FRAME_MS + first[end] + CONFIRMING * confirming[end] + VERDICT_TO_LIT_MS
        for end in (0, 1)
    )
    return least, most


def table_of(measured: Mapping[tuple[str, str], float], boards: Sequence[Board]) -> Table:
    """One column a board."""
    table = Table(title="Estimated, ms", caption=f"Assumptions: {ASSUMPTIONS}")
    table.add_column("what")
    for board in boards:
        table.add_column(f"{board.name}, {board.clock_ghz:g} GHz", justify="right")
    cases = ("first flat frame", "confirming frame", "not-flat frame", "frame by pips")
    for case in cases:
        table.add_row(case, *(_span(reading_ms(board, case, measured)) for board in boards))
    lit = (lit_ms(*(reading_ms(board, case, measured) for case in cases[:2])) for board in boards)
    table.add_row("rest to lit", *map(_span, lit))
    for what in ("--help", "journal last", "start, both processes"):
        spans = (board.milliseconds(0.0, measured[what, board.counted_on]) for board in boards)
        table.add_row(what, *map(_span, spans))
    return table


def _span(ms: Span) -> str:
    return f"{ms[0]:.0f}-{ms[1]:.0f}"
