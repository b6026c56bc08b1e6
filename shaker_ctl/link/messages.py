"""What a table publishes for whoever listens, field by field. All of it is retained.

Owns the names and types of these messages; `shown`, `results` and `link` fill them. Batches of the
journal have a form of their own: `packing`.
"""

from __future__ import annotations

from typing import Annotated, Any, Required

from pydantic import AfterValidator
from typing_extensions import TypedDict

from shaker_ctl.described import Read, asyncapi
from shaker_ctl.link import topics
from shaker_ctl.link.topics import Place


def _three_dice(values: list[int]) -> list[int]:
    if len(values) != 3 or not all(1 <= value <= 6 for value in values):
        raise ValueError("no values of three dice")
    return values


def _words(digests: dict[str, Any]) -> dict[str, Any]:
    if not all(isinstance(digest, str) for digest in digests.values()):
        raise ValueError("a digest that is no text")
    return digests


class Result(TypedDict):
    """The newest result. It comes when its lamps are read back lit."""

    round: int
    values: Annotated[list[int], AfterValidator(_three_dice)]
    """Of the three dice."""
    total: int
    side: str
    """`small`, `big` or `triple`."""
    sequence: int
    """The record that proves it, or takes it back."""
    wall: str
    """When that was, ISO 8601."""
    withdrawn: str
    """Why it holds no more, in words; empty while it holds."""
    marks: list[str]
    """`DEMONSTRATION`, ..."""


class JournalState(TypedDict):
    """The record."""

    sequence: int | None
    second_copy: str | None
    state: str | None


class Dice(TypedDict):
    """The dice in the compartment."""

    serials: list[str] | None
    left_s: int | None
    """Seconds until they have to be changed; None: no limit."""
    tosses: int | None


class Health(TypedDict):
    """The computer of the table."""

    temperature_c: int | None
    throttled: list[str] | None
    disk_free_b: int | None
    memory_free_b: int | None
    clock_trust: str


class State(TypedDict, total=False):
    """Where the table stands. Without a service, `service` stands alone. For staff: `room` is what
    the room may read.
    """

    service: Required[bool]
    """Whether the table's service answers."""
    table: str
    life: str
    """`closed`, `inspection due`, `open`, `out of service`, ..."""
    phase: str
    says: str
    marks: list[str]
    round_id: int | None
    next_step: str
    last_ended: str
    waits_for: str
    """What somebody has to do; empty while nobody is waited for."""
    needs: list[str]
    """Their roles."""
    since_s: int | None
    """Since when it stands so, seconds since 1970."""
    room: str
    shape: str
    """`circle`: play; `square`: calm; `triangle`: somebody is waited for; `cross`: no result."""
    profile: str
    entry_mode: str
    lit: list[str] | None
    """Areas whose lamps are measured lit; None: not known."""
    broken_lamps: list[str]
    journal: JournalState
    dice: Dice
    health: Health


class Alarm(TypedDict):
    """A fault that stands. An empty message ends it."""

    code: str
    cause: str
    remedy: str
    wall_s: float | None
    """Since when, seconds since 1970."""


class Birth(TypedDict):
    """What runs at the table; comes with each connection, and hourly."""

    v: int
    session: str
    """Names the connection."""
    table: str
    """As people call it."""
    identity: str
    """Of the journal."""
    head: int
    """Its last record."""
    schema: int
    version: str
    python: str
    digests: Annotated[dict[str, Any], AfterValidator(_words)]
    """SHA-256 of what decides."""
    profile: str
    marks: list[str]


_Alive = TypedDict("_Alive", {"v": int, "session": str, "is": str})


class Alive(_Alive, total=False):
    """Whether the table's link is there: `online`, or `offline` alone, which the broker sends when
    the link is lost.
    """

    head: int
    behind: int | None
    """Records that the floor has not committed; None: not known yet."""
    disputed: list[int]
    """Rounds with an open dispute."""
    service: bool
    wall: str


def _at(kind: str) -> str:
    return Place("{site}", "{table}").topic(kind)


READS = (
    Read(_at(topics.RESULT), Result, "The newest result, for displays."),
    Read(_at(topics.STATE), State, "Where the table stands, at most twice a second."),
    Read(_at(f"{topics.ALARM}/{{code}}"), Alarm, "A fault that stands; empty when it has ended."),
    Read(_at(topics.ALIVE), Alive, "Whether the table's link is there, every ten seconds."),
    Read(_at(topics.BIRTH), Birth, "What runs at the table."),
)
"""All retained: who subscribes gets what holds now."""


def described() -> dict[str, Any]:
    """Return the description of all of it."""
    return asyncapi("What a Sic Bo table publishes on its floor's broker", READS)
