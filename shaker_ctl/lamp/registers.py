"""The lamp box's register map: values to registers and back, and nothing else.

REGISTERS.md is the same map for people who build a box, and says what each register means; a test
holds its tables to the blocks and codes here. This module owns addresses, widths and codes. It must
not know serial lines, time, or which areas win. Framing and checksums are pymodbus's.

Every number wider than 16 bits is sent most significant word first, as Modbus sends the bytes of a
word: one rule, and a mask printed in hex reads as it lies in the registers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum, IntFlag

from shaker_ctl.errors import LampReplyError
from shaker_ctl.frozen import frozen
from shaker_ctl.rules.layout import AREAS, Layout
from shaker_ctl.rules.outcome import Area

MAGIC = 0x51B0
MAP_MAJOR = 1
MAP_MINOR, OLDEST_MINOR = 2, 1
"""Of this map, and of the oldest box that serves a table: 1.0 kept no anchor of a journal."""
NO_ROUND = 0
"""Round number of lamp entries that belong to no round (inspection). It never anchors a journal."""


# ── Codes ───────────────────────────────────────────────────────────────────


class BoxState(IntEnum):
    """What the box is doing."""

    DARK = 0
    RESULT = 1
    TEST = 2
    FAULT = 3


class Flag(IntFlag):
    """Bits of the status flags."""

    HEALTHY = 1 << 0
    MEASURED = 1 << 1
    STAGED = 1 << 2
    MULTIPLIERS = 1 << 3
    SUPPLY = 1 << 4
    OVERHEATED = 1 << 5
    MEMORY = 1 << 6


class Capability(IntFlag):
    """Bits of the capabilities register."""

    MEASURES_BULBS = 1 << 0
    RETAINS_ROUND = 1 << 1
    SHOWS_PHASE = 1 << 2
    SHOWS_MULTIPLIERS = 1 << 3


REQUIRED = Capability.MEASURES_BULBS | Capability.RETAINS_ROUND | Capability.SHOWS_PHASE


class CommandCode(IntEnum):
    """What the command register takes."""

    COMMIT = 1
    CLEAR = 2
    DARK = 3
    PHASE = 4
    TEST = 5
    CORRECT = 6


class BoxRefusal(IntEnum):
    """Why the box refused; also the verdict on a stage, where NONE means ready to commit."""

    NONE = 0
    UNKNOWN_COMMAND = 1
    NOTHING_STAGED = 2
    OTHER_ROUND = 3
    VALUE_RANGE = 4
    LAYOUT = 5
    MASK_DIFFERS = 6
    RESULT_LIT = 7
    TEST_RUNNING = 8
    ARGUMENT = 9
    INCOMPLETE_WRITE = 10
    BOX_FAULT = 11
    COMMITTED = 12
    ANCHORED = 13


REFUSAL_TEXT: Mapping[BoxRefusal, str] = {
    BoxRefusal.NONE: "no refusal",
    BoxRefusal.UNKNOWN_COMMAND: "the command code is not known",
    BoxRefusal.NOTHING_STAGED: "nothing is staged, or the stage is older than its life",
    BoxRefusal.OTHER_ROUND: "the round is not the one that is staged or lit",
    BoxRefusal.VALUE_RANGE: "a value is not 1 to 6",
    BoxRefusal.LAYOUT: "the layout or one of its options is not what the box has",
    BoxRefusal.MASK_DIFFERS: "the box's own mask differs from the expected one",
    BoxRefusal.RESULT_LIT: "a committed result is lit; clear it first",
    BoxRefusal.TEST_RUNNING: "an area test is running; end it first",
    BoxRefusal.ARGUMENT: "the argument is out of range",
    BoxRefusal.INCOMPLETE_WRITE: "the write does not cover exactly one whole block",
    BoxRefusal.BOX_FAULT: "the box has a fault and takes only `dark`, `clear`, `phase` and anchors",
    BoxRefusal.COMMITTED: (
        "this round was committed with another result; `correct` replaces it, once"
    ),
    BoxRefusal.ANCHORED: (
        "the anchor stands: it never goes back, changes, or passes to another table"
    ),
}


class LayoutOption(IntFlag):
    """Two readings of the rules that change which lamps light on a triple."""

    DOUBLE_ON_TRIPLE = 1 << 0
    EVEN_ODD_ON_TRIPLE = 1 << 1


class LampPhase(IntEnum):
    """Phases that the box's phase display knows."""

    BLANK = 0
    CLOSED = 1
    INSPECTION = 2
    BETS_OPEN = 3
    NO_MORE_BETS = 4
    TOSSING = 5
    READING = 6
    AWAITING_DEALER = 7
    RESULT = 8
    NO_ROLL = 9
    VOID = 10
    SETTLE_BY_HAND = 11
    FAULT = 12
    OUT_OF_SERVICE = 13


def layout_word(layout: Layout) -> int:
    """Return the layout register: how many of Sic Bo's areas the table has."""
    return len(layout.areas) - len(layout.own)


def lamps_needed(layout: Layout) -> int:
    """Return how many lamps a box must have: up to the last of the house's own."""
    return 1 + max((rule.lamp for rule in layout.own.values()), default=layout_word(layout) - 1)


def layout_options(layout: Layout) -> LayoutOption:
    """Return the layout options register. An option without meaning on a layout is not set."""
    options = LayoutOption(0)
    if "double-1" in layout.won((1, 1, 1)):
        options |= LayoutOption.DOUBLE_ON_TRIPLE
    if "odd" in layout.won((1, 1, 1)):
        options |= LayoutOption.EVEN_ODD_ON_TRIPLE
    return options


DEMONSTRATION = 0x0100
"""Added to a phase on a table that plays as a demonstration; the box marks its display."""


# ── The map ─────────────────────────────────────────────────────────────────


@frozen
class Register:
    """One line of the map. `words` registers from `address` on."""

    address: int
    words: int
    name: str
    kind: str


@frozen
class Block:
    """Registers that are read, and where `written` is not 0 written, in one request."""

    name: str
    registers: tuple[Register, ...]
    written: int = 0
    """How many registers, from the first on, one write must cover exactly; 0: read only."""

    @property
    def address(self) -> int:
        return self.registers[0].address

    @property
    def words(self) -> int:
        last = self.registers[-1]
        return last.address + last.words - self.address


def _block(name: str, address: int, *lines: tuple[str, str], written: int = 0) -> Block:
    """Lay registers one after the other; each line is (name, kind)."""
    registers = []
    for register_name, kind in lines:
        words = _WIDTH.get(kind) or int(kind.removeprefix("u16 x "))
        registers.append(Register(address, words, register_name, kind))
        address += words
    return Block(name, tuple(registers), written)


_WIDTH = {"u16": 1, "s16": 1, "bits": 1, "u32": 2, "mask": 4}

IDENTITY = _block(
    "identity",
    0x0000,
    ("magic", "u16"),
    ("map version", "u16"),
    ("firmware", "u16"),
    ("serial number", "u32"),
    ("areas fitted", "u16"),
    ("capabilities", "bits"),
    ("warm-up", "u16"),
    ("stage life", "u16"),
    ("test life", "u16"),
    ("rated current", "u16"),
    ("reply delay", "u16"),
    ("layout digest", "u16 x 4"),
)

STATUS = _block(
    "status",
    0x0010,
    ("state", "u16"),
    ("flags", "bits"),
    ("last refusal", "u16"),
    ("restarts", "u16"),
    ("uptime", "u32"),
    ("sequence", "u16"),
    ("phase", "u16"),
    ("phase round", "u32"),
    ("result round", "u32"),
    ("last committed round", "u32"),
    ("driven", "mask"),
    ("glowing", "mask"),
    ("open", "mask"),
    ("stuck", "mask"),
    ("supply", "u16"),
    ("temperature", "s16"),
)

STAGE = _block(
    "stage",
    0x0040,
    ("sequence", "u16"),
    ("round", "u32"),
    ("first value", "u16"),
    ("second value", "u16"),
    ("third value", "u16"),
    ("layout", "u16"),
    ("layout options", "bits"),
    ("expected mask", "mask"),
    ("verdict", "u16"),
    ("own mask", "mask"),
    written=12,
)

COMMAND = _block(
    "command",
    0x0060,
    ("sequence", "u16"),
    ("command", "u16"),
    ("round", "u32"),
    ("argument", "u16"),
    written=5,
)

ODDS = len(AREAS) + 12
"""Places of odds: one for each area, then `one-N` on two dice, then `one-N` on three."""

_SHOWN = ("round", "u32"), ("odds", f"u16 x {ODDS}")

MULTIPLIERS = _block("multipliers", 0x0080, *_SHOWN, written=2 + ODDS)

MULTIPLIERS_SHOWN = _block("multipliers shown", 0x00D0, *_SHOWN)

CURRENTS = _block("currents", 0x0120, ("currents", f"u16 x {len(AREAS) // 2}"))

COMMITTED = _block(
    "committed",
    0x0140,
    ("round", "u32"),
    ("first mask", "mask"),
    ("mask", "mask"),
    ("corrections", "u16"),
)

TABLE_BYTES = 8
HEAD_BYTES = 32

ANCHOR = _block(
    "anchor",
    0x0150,
    ("table", "u16 x 4"),
    ("round", "u32"),
    ("record", "u32"),
    ("head", "u16 x 16"),
    ("erasures", "u16"),
    written=24,
)

BLOCKS = (
    IDENTITY,
    STATUS,
    STAGE,
    COMMAND,
    MULTIPLIERS,
    MULTIPLIERS_SHOWN,
    CURRENTS,
    COMMITTED,
    ANCHOR,
)

ODDS_PLACES: tuple[str, ...] = (
    *AREAS,
    *(f"one-{face}/2" for face in range(1, 7)),
    *(f"one-{face}/3" for face in range(1, 7)),
)
"""Names of the places of odds: an area, or `one-N/2` and `one-N/3` for two and three dice."""


# ── Words ───────────────────────────────────────────────────────────────────


def split(number: int, words: int) -> list[int]:
    """Return `number` as `words` registers, most significant first. Raises ValueError if wider."""
    if not 0 <= number < 1 << 16 * words:
        raise ValueError(f"{number} does not fit {words} registers")
    return [number >> 16 * place & 0xFFFF for place in reversed(range(words))]


def join(words: Sequence[int]) -> int:
    """Return registers, most significant first, as one number."""
    number = 0
    for word in words:
        number = number << 16 | word
    return number


class _Cursor:
    """Takes registers off a reply in the order of its block."""

    def __init__(self, block: Block, words: Sequence[int], layout: Layout | None = None) -> None:
        self._layout = layout
        if len(words) != block.words:
            raise LampReplyError(
                f"the lamp box sent {len(words)} registers for its {block.name} block "
                f"of {block.words}",
                remedy="Check that the box implements the register map of REGISTERS.md",
            )
        self._words = words
        self._at = 0

    def take(self, count: int = 1) -> int:
        value = join(self._words[self._at : self._at + count])
        self._at += count
        return value

    def take_bytes(self, count: int) -> bytes:
        return self.take(count // 2).to_bytes(count, "big")

    def take_areas(self) -> frozenset[Area]:
        """Take a lamp mask. Raises LampReplyError for a lamp that no area of the layout has."""
        assert self._layout is not None
        mask = self.take(4)
        try:
            return self._layout.named(mask)
        except ValueError as error:
            raise LampReplyError(
                f"the lamp box reports lamps {mask:#x}, more than its {len(self._layout.rules)} "
                "areas have",
                remedy="Check the box's firmware against REGISTERS.md",
            ) from error


# ── Records ─────────────────────────────────────────────────────────────────


@frozen
class LampIdentity:
    """Who the box is."""

    magic: int
    map_version: tuple[int, int]
    firmware: tuple[int, int]
    serial_number: int
    areas_fitted: int
    capabilities: Capability
    warm_up_s: float
    layout_digest: bytes
    """Of the areas of a house that the box was made for (map 1.2)."""


def decode_identity(words: Sequence[int]) -> LampIdentity:
    """Read the identity block."""
    cursor = _Cursor(IDENTITY, words)
    return LampIdentity(
        magic=cursor.take(),
        map_version=divmod(cursor.take(), 256),
        firmware=divmod(cursor.take(), 256),
        serial_number=cursor.take(2),
        areas_fitted=cursor.take(),
        capabilities=Capability(cursor.take()),
        warm_up_s=cursor.take() / 1000,
        layout_digest=cursor.take_bytes(16)[8:],  # behind times and currents of the box's own
    )


@frozen
class LampStatus:
    """What the box does and measures, at one moment."""

    state: BoxState
    flags: Flag
    last_refusal: int
    restarts: int
    uptime_ms: int
    sequence: int
    phase: int
    phase_round: int
    result_round: int
    last_committed_round: int
    driven: frozenset[Area]
    glowing: frozenset[Area]
    open_bulbs: frozenset[Area]
    stuck_bulbs: frozenset[Area]
    supply_v: float
    temperature_c: float

    @property
    def is_healthy(self) -> bool:
        """The box finds nothing wrong with itself: supply, temperature, memory, lamps."""
        return Flag.HEALTHY in self.flags and self.state is not BoxState.FAULT

    @property
    def is_measured(self) -> bool:
        """Every lamp has had its warm-up since it was last switched."""
        return Flag.MEASURED in self.flags

    @property
    def is_dark(self) -> bool:
        """Nothing is driven, and nothing glows although nothing is driven."""
        return (
            self.state is BoxState.DARK
            and self.is_measured
            and not self.driven
            and not self.glowing
        )

    @property
    def lit(self) -> frozenset[Area]:
        """The areas that are driven and seen to glow."""
        return self.driven & self.glowing


def decode_status(words: Sequence[int], layout: Layout) -> LampStatus:
    """Read the status block, the lamps by their names on `layout`.

    Raises `LampReplyError` for a state that the map does not have.
    """
    cursor = _Cursor(STATUS, words, layout)
    state = cursor.take()
    if state not in BoxState._value2member_map_:
        raise LampReplyError(
            f"the lamp box is in state {state}, which its register map does not have",
            remedy="Check the box's firmware against REGISTERS.md",
        )
    return LampStatus(
        state=BoxState(state),
        flags=Flag(cursor.take()),
        last_refusal=cursor.take(),
        restarts=cursor.take(),
        uptime_ms=cursor.take(2),
        sequence=cursor.take(),
        phase=cursor.take(),
        phase_round=cursor.take(2),
        result_round=cursor.take(2),
        last_committed_round=cursor.take(2),
        driven=cursor.take_areas(),
        glowing=cursor.take_areas(),
        open_bulbs=cursor.take_areas(),
        stuck_bulbs=cursor.take_areas(),
        supply_v=cursor.take() / 100,
        temperature_c=_signed(cursor.take()) / 10,
    )


def _signed(word: int) -> int:
    return word - 0x10000 if word & 0x8000 else word


@frozen
class Stage:
    """A result on its way to the lamps."""

    sequence: int
    round_id: int
    values: tuple[int, int, int]
    layout: int
    options: LayoutOption
    expected_mask: int


@frozen
class StageReadback:
    """The stage as the box holds it, its verdict, and the lamps that it computed by itself."""

    stage: Stage
    verdict: int
    own: frozenset[Area]


def encode_stage(stage: Stage) -> list[int]:
    """Return the registers of one write that covers the whole stage."""
    return [
        stage.sequence,
        *split(stage.round_id, 2),
        *stage.values,
        stage.layout,
        stage.options.value,
        *split(stage.expected_mask, 4),
    ]


def decode_stage(words: Sequence[int], layout: Layout) -> StageReadback:
    """Read the stage block back."""
    cursor = _Cursor(STAGE, words, layout)
    stage = Stage(
        sequence=cursor.take(),
        round_id=cursor.take(2),
        values=(cursor.take(), cursor.take(), cursor.take()),
        layout=cursor.take(),
        options=LayoutOption(cursor.take()),
        expected_mask=cursor.take(4),
    )
    return StageReadback(stage, verdict=cursor.take(), own=cursor.take_areas())


def encode_command(sequence: int, code: CommandCode, round_id: int, argument: int = 0) -> list[int]:
    """Return the registers of one command."""
    return [sequence, code.value, *split(round_id, 2), argument]


def encode_multipliers(round_id: int, odds: Mapping[str, int]) -> list[int]:
    """Return the registers that show `odds` (place to X of "X to 1") and blank all other places.

    Raises KeyError for a name that is not in `ODDS_PLACES`, ValueError for odds outside 0-9999.
    """
    for place, value in odds.items():
        if place not in ODDS_PLACES:
            raise KeyError(place)
        if not 0 <= value <= 9999:
            raise ValueError(f"odds of {place} must be 0 to 9999, not {value}")
    return [*split(round_id, 2), *(odds.get(place, 0) for place in ODDS_PLACES)]


def decode_multipliers(words: Sequence[int]) -> tuple[int, dict[str, int]]:
    """Return the round and the odds that stand in a multiplier block, blank places left out."""
    cursor = _Cursor(MULTIPLIERS, words)
    round_id = cursor.take(2)
    shown = {place: cursor.take() for place in ODDS_PLACES}
    return round_id, {place: odds for place, odds in shown.items() if odds}


@frozen
class Committed:
    """The result that the box retained with its last committed round."""

    round_id: int
    first: frozenset[Area]
    areas: frozenset[Area]


def decode_committed(words: Sequence[int], layout: Layout) -> Committed:
    """Read the committed block; round 0 and no areas where nothing was committed yet."""
    cursor = _Cursor(COMMITTED, words, layout)
    return Committed(
        round_id=cursor.take(2),
        first=cursor.take_areas(),
        areas=cursor.take_areas(),
    )


@frozen
class BoxAnchor:
    """Where a journal stood after a round, kept in the box: `NO_ROUND` where there is none."""

    table: bytes
    """`TABLE_BYTES` bytes that all records of one journal have in common."""
    round_id: int
    record: int
    head: bytes
    """SHA-256 of the chain up to and including that record: `HEAD_BYTES` bytes."""


def encode_anchor(anchor: BoxAnchor) -> list[int]:
    """Return the registers of one write that covers the anchor. Raises ValueError if one is off."""
    if (len(anchor.table), len(anchor.head)) != (TABLE_BYTES, HEAD_BYTES):
        raise ValueError("an anchor has 8 bytes of table and 32 of head")
    return [
        *split(int.from_bytes(anchor.table, "big"), TABLE_BYTES // 2),
        *split(anchor.round_id, 2),
        *split(anchor.record, 2),
        *split(int.from_bytes(anchor.head, "big"), HEAD_BYTES // 2),
    ]


def decode_anchor(words: Sequence[int]) -> tuple[BoxAnchor, int]:
    """Read the anchor block: the anchor, and how often the box's memory was erased by hand."""
    cursor = _Cursor(ANCHOR, words)
    anchor = BoxAnchor(
        table=cursor.take_bytes(TABLE_BYTES),
        round_id=cursor.take(2),
        record=cursor.take(2),
        head=cursor.take_bytes(HEAD_BYTES),
    )
    return anchor, cursor.take()


def refusal_text(code: int) -> str:
    """Say why the box refused; an unknown code is said as such."""
    if code in BoxRefusal._value2member_map_:
        return REFUSAL_TEXT[BoxRefusal(code)]
    return f"refusal code {code}, which this version of the map does not have"
