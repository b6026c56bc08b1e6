"""Draws the tables of REGISTERS.md from the map in the code, between its `<!-- table -->` marks.

`python -m shaker_ctl.lamp.document` rewrites the file in place; a test refuses a file that is not
as this draws it. Prose and hex examples are written by hand: the examples are sent to a lamp box by
another test. This module must not know how a register is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import IntEnum, IntFlag
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from shaker_ctl.lamp import registers as r
from shaker_ctl.rules.outcome import AREAS

_Code = TypeVar("_Code", bound=IntEnum)
_Flag = TypeVar("_Flag", bound=IntFlag)

DOCUMENT = Path(__file__).with_name("REGISTERS.md")
MARK = re.compile(r"<!-- table: (?P<name>[a-z ]+) -->\n.*?<!-- end -->", re.DOTALL)

FLAG_TEXT = {
    r.Flag.HEALTHY: "nothing below is wrong, no lamp is open or stuck, and the state is not 3",
    r.Flag.MEASURED: "every lamp has been measured for the warm-up time since it was last switched",
    r.Flag.STAGED: "a stage waits for its commit",
    r.Flag.MULTIPLIERS: "at least one multiplier display is not blank",
    r.Flag.SUPPLY: "the lamp supply is outside what the lamps need",
    r.Flag.OVERHEATED: "the box is too hot",
    r.Flag.MEMORY: "the retained memory cannot be trusted; last committed round then reads 0",
}
CAPABILITY_TEXT = {
    r.Capability.MEASURES_BULBS: "measures the current of every lamp (required)",
    r.Capability.RETAINS_ROUND: "retains the last committed round without power (required)",
    r.Capability.SHOWS_PHASE: "shows the phase of the table (required)",
    r.Capability.SHOWS_MULTIPLIERS: "shows odds at their places, and reads the displays back",
}
OPTION_TEXT = {
    r.LayoutOption.DOUBLE_ON_TRIPLE: "three equal dice also light two of a kind of that number",
    r.LayoutOption.EVEN_ODD_ON_TRIPLE: "three equal dice light Even or Odd (layout 52 only)",
}
COMMAND_TEXT = {
    r.CommandCode.COMMIT: "light the staged result. Round: the staged one. "
    "Refused with 2, 3, 4, 5, 6, 7, 8, 11 or 12",
    r.CommandCode.CLEAR: "end the result; all lamps and multiplier displays dark. "
    "Round: the one that is lit, else refused with 3. Accepted when nothing is lit",
    r.CommandCode.DARK: "emergency: lamps and multipliers off, stage and test dropped. "
    "Never refused, whatever the round",
    r.CommandCode.PHASE: "show a phase. Argument: see phases. Refused with 9",
    r.CommandCode.TEST: "light one lamp alone. Argument: its bit + 1; 0 ends the test. "
    "Refused with 7, 9 or 11",
    r.CommandCode.CORRECT: "light the staged result in the place of the one that its round was "
    "committed with, once a round. Round: the staged one, and the last committed one. "
    "Refused as commit is, and with 3 for another round",
}
PHASE_TEXT = {
    r.Phase.BLANK: "display off",
    r.Phase.CLOSED: "table closed",
    r.Phase.INSPECTION: "opening inspection",
    r.Phase.BETS_OPEN: "bets open",
    r.Phase.NO_MORE_BETS: "no more bets",
    r.Phase.TOSSING: "the dice are being tossed",
    r.Phase.READING: "the dice are being read",
    r.Phase.AWAITING_DEALER: "the dealer confirms or enters",
    r.Phase.RESULT: "result lit",
    r.Phase.NO_ROLL: "no roll",
    r.Phase.VOID: "round void",
    r.Phase.SETTLE_BY_HAND: "result stands, settled by hand",
    r.Phase.FAULT: "fault",
    r.Phase.OUT_OF_SERVICE: "out of service",
}


def render(text: str) -> str:
    """Return `text` with every marked table drawn anew. Raises KeyError for an unknown mark."""
    tables = _tables()

    def draw(mark: re.Match[str]) -> str:
        name = mark["name"]
        return f"<!-- table: {name} -->\n{tables[name]}\n<!-- end -->"

    return MARK.sub(draw, text)


def _tables() -> dict[str, str]:
    tables = {block.name: _block_table(block) for block in r.BLOCKS}
    tables["blocks"] = _table(
        ("block", "first", "registers", "written"),
        ((b.name, _hex(b.address), str(b.words), str(b.written or "-")) for b in r.BLOCKS),
    )
    tables["flags"] = _bits(FLAG_TEXT)
    tables["capabilities"] = _bits(CAPABILITY_TEXT)
    tables["layout options"] = _bits(OPTION_TEXT)
    tables["commands"] = _codes(COMMAND_TEXT, "command")
    tables["phases"] = _codes(PHASE_TEXT, "phase")
    tables["refusals"] = _codes(r.REFUSAL_TEXT, "meaning")
    tables["lamps"] = _table(
        ("bits", "areas, lowest bit first"),
        (
            (f"{first}-{first + len(row) - 1}", ", ".join(f"`{area}`" for area in row))
            for first, row in _rows_of_areas()
        ),
    )
    return tables


def _rows_of_areas() -> Iterable[tuple[int, tuple[str, ...]]]:
    edges = (0, 5, 11, 17, 32, 46, len(AREAS))
    return ((first, AREAS[first:end]) for first, end in pairwise(edges))


def _block_table(block: r.Block) -> str:
    rows = (
        (_hex(register.address), register.name, register.kind, register.meaning)
        for register in block.registers
    )
    return _table(("address", "register", "type", "meaning"), rows)


def _bits(texts: Mapping[_Flag, str]) -> str:
    rows = ((str(_bit(flag)), _spoken(flag), text) for flag, text in texts.items())
    return _table(("bit", "name", "set when"), rows)


def _codes(texts: Mapping[_Code, str], heading: str) -> str:
    rows = ((str(int(code)), _spoken(code), text) for code, text in texts.items())
    return _table(("code", "name", heading), rows)


def _bit(flag: IntFlag) -> int:
    return flag.value.bit_length() - 1


def _spoken(code: IntEnum | IntFlag) -> str:
    return str(code.name).lower().replace("_", " ")


def _hex(address: int) -> str:
    return f"`{address:04X}`"


def _table(heading: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [heading, tuple("---" for _ in heading), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


if __name__ == "__main__":
    DOCUMENT.write_text(render(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
