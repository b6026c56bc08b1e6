"""What happened in a round: one fold from the journal's records to one value.

Owns what a record tells of a round, of a toss, of a fault and of the dice. Whoever tells, counts or
hands on past rounds takes them from here: a fact that is added to `Round` changes no other module.
Must not know files, nor how people read what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any

from shaker_ctl.frozen import frozen
from shaker_ctl.journal.record import NOT_UNDERSTOOD, Plain, Record, names_its_record
from shaker_ctl.plain_form import PlainForm

Values = tuple[int, int, int]

UNDER = "under"
"""Under which a round's first and last record name its text, paytable, entry and layout."""


@frozen
class Named:
    """A person as a record names them."""

    name: str
    role: str
    number: str = ""
    """Empty in records of versions that knew names alone."""


@frozen(kw_only=True)
class Round:
    """One round of play, as far as the records tell it that were folded into it."""

    number: int
    first: int = 0
    last: int = 0
    """Sequence numbers of its records."""
    began: str = ""
    ended: str | None = None
    """Wall times, ISO 8601; None while it goes on."""
    ended_in: int = 0
    """The record that ended it; 0 while it goes on."""
    under: str = ""
    """Text, paytable, entry and layout; empty in older records."""
    profile: str = ""
    """Digest of the profile under which it began."""
    marks: tuple[str, ...] = ()
    """`DEMONSTRATION`, ..."""
    people: tuple[Named, ...] = ()
    """Everybody who acted."""
    moments: tuple[tuple[str, float], ...] = ()
    """Events that begin a stage (`STAGES`), and when, on the monotonic clock. The first step is the
    first of them, whatever it is."""
    plan: dict[str, Any] | None = None
    """How it was to be tossed."""
    offered: tuple[dict[str, Any], ...] = ()
    multipliers: tuple[dict[str, Any], ...] = ()
    """Those that the table was to show, and those in force: proved to have been shown."""
    verdicts: tuple[dict[str, Any], ...] = ()
    """What the reader said, in order."""
    pictures: tuple[tuple[str, str, str], ...] = ()
    """(what it shows, file, SHA-256) of each."""
    read_ms: float | None = None
    """From rest to the first reading."""
    entered: Values | None = None
    """What a person entered or confirmed last."""
    areas: tuple[str, ...] = ()
    """Betting areas that were commanded lit last."""
    lamps: tuple[str, ...] = ()
    """What the lamp box answered, in order: names of events."""
    lit_ms: float | None = None
    """From rest to the lamps read back lit for the first time."""
    shown: Values | None = None
    """The values whose lamps were read back lit last."""
    shown_in: int = 0
    shown_wall: str = ""
    """The record that proves them lit or takes them back, and its wall time."""
    taken_back: str = ""
    """Why they do not hold any more, in words."""
    values: Values | None = None
    """The result: as it was recorded, before that as it was commanded."""
    withdrawn: str | None = None
    """The result that a correction has replaced: `1 4 5`, or `no roll`."""
    corrected_by: tuple[Named, ...] = ()
    """Who named the correction, and who agreed."""
    ending: str | None = None
    source: str | None = None
    wagers: str | None = None
    cause: str | None = None
    camera_off: bool = False
    manual_shaker: bool = False
    by_eye: bool = False
    """How it was played, and whether the result is what a dealer saw before the reader read it."""
    late: dict[str, Any] | None = None
    """What the reader said after all of a round by eye."""

    @property
    def reading(self) -> str | None:
        """`Verified`, `NoRoll` or `Unreadable`."""
        return self.verdicts[-1]["type"] if self.verdicts else None

    @property
    def reason(self) -> str | None:
        """Why the newest reading gave no values."""
        if not self.verdicts:
            return None
        return self.verdicts[-1].get("reason") or self.verdicts[-1].get("kind") or ""

    @property
    def picture(self) -> str | None:
        """SHA-256 of the newest picture with the readers' findings."""
        return next((sha for role, _, sha in reversed(self.pictures) if role == "overlay"), None)

    @property
    def seen(self) -> Values | None:
        """What was read of the dice last, whether it counted or not."""
        return values_of(self.verdicts[-1].get("values")) if self.verdicts else None


STAGES = {
    "BetsRequested": "bets",
    "TossPlanDrawn": "before the toss",
    "TossStarted": "toss",
    "TossSettled": "settling",
    "AtRest": "reading",
    "ReadingMade": "decision to lit",
    "LampsShown": "paying",
    "LampsDark": "end",
}
"""Event that begins a stage, and the stage's name."""


def result(values: Iterable[int] | None) -> str:
    """Return a result as it stands in words: `1 4 5`, or `no roll`."""
    return " ".join(map(str, values or ())) or "no roll"


def values_of(plain: Any) -> Values | None:
    """Return the values of three dice out of a record; None where it names none.

    Raises ValueError for what are not the values of dice.
    """
    if plain is None:
        return None
    if not isinstance(plain, list | tuple) or any(type(one) is not int for one in plain):
        raise ValueError(f"{plain!r:.60} are not the values of dice")
    if len(plain) != 3 or not all(1 <= one <= 6 for one in plain):
        raise ValueError(f"{plain!r:.60} are not the values of three dice")
    first, second, third = plain
    return first, second, third


# ── The fold ────────────────────────────────────────────────────────────────


def after(was: Round, plain: Mapping[str, Plain]) -> Round:
    """Return a round after one more record that bears or ends it; what follows its end is none of
    it: an inspection reads dice and lights lamps of its own.

    Raises what reading a record raises that makes no sense (`record.NOT_UNDERSTOOD`).
    """
    if was.ended_in:
        return was
    changed = _framed(was, plain)
    if plain["kind"] != "step":  # a refused event changed nothing
        return replace(was, **changed)
    now = replace(was, **changed, **_happened(was, plain))
    for command in plain.get("decision", ()):
        if command["type"] in _COMMANDS and is_of_play(command):
            now = replace(now, **_COMMANDS[command["type"]](now, plain, command))
    return now


def _framed(was: Round, plain: Mapping[str, Plain]) -> dict[str, Any]:
    """What every record tells."""
    changed: dict[str, Any] = {"last": plain["sequence"]}
    if not was.first:
        profile = _word(plain.get("digests", {}).get("profile", ""))
        changed |= {"first": plain["sequence"], "began": _word(plain["wall"]), "profile": profile}
    if UNDER in plain and not was.under:
        changed["under"] = _word(plain[UNDER])
    if marks := plain.get("marks"):
        changed["marks"] = tuple(dict.fromkeys((*was.marks, *_words(marks))))
    if pictures := plain.get("pictures"):
        named = sorted(pictures.items(), reverse=True)
        files = (_words((role, each["file"], each["sha256"])) for role, each in named)
        changed["pictures"] = (*was.pictures, *files)
    return changed


def _happened(was: Round, step: Mapping[str, Plain]) -> dict[str, Any]:
    """What the event of an accepted step tells."""
    event, changed = step["event"], dict[str, Any]()
    if people := tuple(persons(event)):
        changed["people"] = tuple(dict.fromkeys((*was.people, *people)))
    if is_of_play(event):
        kind = _word(event["type"])
        if kind in STAGES or not was.moments:
            changed["moments"] = (*was.moments, (kind, _at_s(step)))
        if kind in _EVENTS:
            changed |= _EVENTS[kind](was, step, event)
    return changed


_Change = Mapping[str, Any]


def _read(was: Round, step: Plain, event: Plain) -> _Change:
    return {
        "verdicts": (*was.verdicts, _verdict(event["verdict"])),
        "read_ms": _since_rest_ms(was, step) if was.read_ms is None else was.read_ms,
    }


def _since_rest_ms(was: Round, step: Plain) -> float | None:
    rest_s = next((at_s for kind, at_s in reversed(was.moments) if kind == "AtRest"), None)
    return None if rest_s is None else 1000 * (_at_s(step) - rest_s)


def _lit(was: Round, step: Plain, event: Plain) -> _Change:
    changed: dict[str, Any] = {
        "lit_ms": _since_rest_ms(was, step) if was.lit_ms is None else was.lit_ms,
        "lamps": (*was.lamps, event["type"]),
    }
    if (values := values_of(event.get("values") or None)) is not None:
        changed |= {"shown": values, "shown_wall": step["wall"]}
        changed |= {"shown_in": step["sequence"], "taken_back": ""}
    return changed


def _commanded(was: Round, step: Plain, command: Plain) -> _Change:
    changed: dict[str, Any] = {
        "values": values_of(command.get("values") or None),
        "areas": _words(command.get("areas", ())),
    }
    if command.get("corrects"):
        first = None if was.values is None else result(was.values)
        changed["withdrawn"] = was.withdrawn or first
        changed |= _taken_back(was, step, "corrected at the table")
    return changed


def _taken_back(was: Round, step: Plain, why: str) -> _Change:
    if was.shown is None or was.taken_back:
        return {}
    return {"taken_back": why, "shown_in": step["sequence"], "shown_wall": step["wall"]}


def _planned(_was: Round, _step: Plain, command: Plain) -> _Change:
    plan = command.get("plan") or {}
    return {"plan": {key: value for key, value in plan.items() if key != "type"}}


def _ended(was: Round, step: Plain, command: Plain) -> _Change:
    if command["round"] != was.number:
        return {}
    values = values_of(command.get("values"))
    changed: dict[str, Any] = {
        "ended": _word(step["wall"]),
        "ended_in": step["sequence"],
        "values": values,
        "multipliers": tuple(map(_fact, command.get("multipliers", ()))),
        "late": None if command.get("late") is None else _verdict(command["late"]),
        **{key: bool(command.get(key)) for key in ("camera_off", "manual_shaker", "by_eye")},
        **{key: _word_if_any(command.get(key)) for key in ("ending", "source", "wagers", "cause")},
    }
    if (correction := command.get("correction")) is not None:
        changed["withdrawn"] = result(values_of(correction["first"]))
        by = (correction["named_by"], correction["agreed_by"])
        changed["corrected_by"] = tuple(map(_person, by))
    if values != was.shown:
        changed |= _taken_back(was, step, f"the round ended otherwise: {command.get('ending')}")
    return changed


_EVENTS: Mapping[str, Callable[[Round, Plain, Plain], _Change]] = {
    "ReadingMade": _read,
    "ValuesEntered": lambda _was, _step, event: {"entered": values_of(event["values"])},
    "ValuesConfirmed": lambda _was, _step, event: {"entered": values_of(event["values"])},
    "LampsShown": _lit,
    "LampsDark": lambda was, _step, event: {"lamps": (*was.lamps, event["type"])},
    "LampFault": lambda was, _step, event: {"lamps": (*was.lamps, event["type"])},
    "MultipliersShown": lambda was, _step, _event: {"multipliers": was.offered},
}

_COMMANDS: Mapping[str, Callable[[Round, Plain, Plain], _Change]] = {
    "PushLamps": _commanded,
    "ShowMultipliers": lambda _was, _step, command: {
        "offered": tuple(map(_fact, command["multipliers"]))
    },
    "StartToss": _planned,
    "RecordRound": _ended,
}


def _word(plain: Plain) -> str:
    if not isinstance(plain, str):
        raise ValueError(f"{plain!r:.60} is no word")
    plain.encode()  # half a character is a ValueError
    return plain


def _word_if_any(plain: Plain) -> str | None:
    return None if plain is None else _word(plain)


def _verdict(plain: Plain) -> dict[str, Any]:
    found = _fact(plain)
    _words((found["type"], *(found[key] for key in ("reason", "kind", "detail") if key in found)))
    values_of(found.get("values"))
    return found


def _fact(plain: Plain) -> dict[str, Any]:
    if not isinstance(plain, dict):
        raise ValueError(f"{plain!r:.60} is no object")
    return plain


def _words(plain: Plain) -> tuple[str, ...]:
    return tuple(_word(each) for each in plain)


def _at_s(step: Plain) -> float:
    """When a step was made, on the monotonic clock."""
    at_s = step.get("at_s", 0.0)
    if type(at_s) not in (int, float):
        raise ValueError(f"{at_s!r:.60} is no time")
    return float(at_s)


# ── Whole rounds, and rounds as records come ────────────────────────────────


@names_its_record
def round_of(records: Iterable[Record], number: int) -> Round:
    """Return what the records of a round tell, oldest first. Raises JournalCorruptError."""
    found = Round(number=number)
    for record in records:
        found = after(found, record.plain)
    return found


def until_ended(records: Iterable[Record], number: int) -> list[Record]:
    """Return the records of a round up to the one that says how it ended."""
    found: list[Record] = []
    for record in records:
        found.append(record)
        if any(one["round"] == number for one in _decided(record.plain, "RecordRound")):
            break
    return found


def changed_by(plain: Mapping[str, Plain], was: Callable[[int], Round | None]) -> Iterator[Round]:
    """Yield each round that a record bears or ends, after it. `was`: what is known before it."""
    numbers = [command["round"] for command in _decided(plain, "RecordRound")]
    if plain.get("round") is not None:
        numbers.append(plain["round"])
    for number in dict.fromkeys(numbers):
        yield after(was(_number(number)) or Round(number=number), plain)


def ended_by(plain: Mapping[str, Plain]) -> Iterator[Round]:
    """Yield each round that a record ends, as this record alone tells it."""
    for command in _decided(plain, "RecordRound"):
        yield after(Round(number=_number(command["round"])), plain)


def understood(plain: Mapping[str, Plain]) -> list[Round]:
    """As `ended_by`, but of a record that makes no sense, none."""
    try:
        return list(ended_by(plain))
    except NOT_UNDERSTOOD:
        return []


def ends_round(plain: Mapping[str, Plain]) -> bool:
    """Whether a record says that a round ended, whatever it says of it."""
    return bool(_decided(plain, "RecordRound"))


def _decided(plain: Mapping[str, Plain], kind: str) -> list[dict[str, Plain]]:
    if plain["kind"] != "step":  # a refused event changed nothing
        return []
    return [command for command in plain.get("decision", ()) if command["type"] == kind]


def _number(plain: Plain) -> int:
    if type(plain) is not int or not 0 <= plain < 1 << 63:
        raise ValueError(f"{plain!r:.60} is no number of a round")
    return plain


@dataclass(slots=True)
class InHand:
    """The rounds that go on, as records come in their order."""

    rounds: dict[int, Round] = field(default_factory=dict)

    def take(self, plain: Mapping[str, Plain]) -> list[Round]:
        """Take one more record; return the rounds that it ends."""
        changed = list(changed_by(plain, self.rounds.get))
        self.rounds |= {one.number: one for one in changed}
        ended = [one for one in changed if one.ended_in == plain["sequence"]]
        if ended:
            # Rounds end in their order: what is in hand of earlier ones has no end to come.
            last = max(one.number for one in ended)
            self.rounds = {n: one for n, one in self.rounds.items() if n > last}
        return ended


FACTS = (1, *(each.name for each in fields(Round)))
"""What a round tells. Raise the number where a fact comes to mean something else: tables that keep
rounds are then made anew."""

FORM = PlainForm(lambda name: {"Round": Round, "Named": Named, "DiceEntry": DiceEntry}.get(name))
"""Of the facts that are kept beside a journal."""


def to_plain(one: Round) -> Plain:
    """Return a round as JSON has it."""
    return FORM.plain(one)


def from_plain(plain: Plain) -> Round:
    """Return what `to_plain` was given. Raises PlainFormError."""
    made: Round = FORM.made(plain, "round")
    return made


# ── What one record tells by itself ─────────────────────────────────────────


def mentions(body: bytes, *kinds: str) -> bool:
    """Whether a record's body may hold an event or a command of these names: most are passed over
    undecoded.
    """
    return any(word in body for word in _quoted(kinds))


@cache
def _quoted(kinds: tuple[str, ...]) -> list[bytes]:
    return [f'"{kind}"'.encode() for kind in kinds]


def is_of_play(fact: Mapping[str, Plain]) -> bool:
    """Whether an event or a command concerns a round of play. What an inspection or a trial does
    goes on record under the number of the round before it, and is no part of that round.
    """
    occasion = fact.get("occasion")
    return occasion is None or occasion["purpose"] == "play"


def persons(fact: Mapping[str, Plain]) -> Iterator[Named]:
    """Yield everybody whom an event or a correction names."""
    for value in fact.values():
        if isinstance(value, dict) and value.get("type") == "Person":
            yield _person(value)


def _person(plain: Mapping[str, Plain]) -> Named:
    return Named(
        _word(plain["name"]), _word(plain["role"]), _word_if_any(plain.get("number")) or ""
    )


def other_dice(plain: Mapping[str, Plain]) -> bool:
    """True where a record says that other dice are in the compartment now: not where the first of
    two persons has named them.
    """
    if plain["kind"] != "step" or plain["event"]["type"] != "DiceChanged":
        return False
    return all(command.get("notice") != "dice_named" for command in plain.get("decision", ()))


@frozen
class DiceEntry:
    """What a record says of dice: what became of them, and on whose word."""

    sequence: int
    wall: str
    what: str
    """`locked in`, `corrected`, or a step of the ledger."""
    serials: tuple[str, ...]
    by: tuple[Named, ...]
    is_first: bool = False
    """One person named them, and a second one has to: nothing became of them yet."""


_OF_DICE = {"DiceChanged": "locked in", "DiceCorrected": "corrected", "DiceLogged": ""}
DICE_WORDS = tuple(_OF_DICE)
"""A record has an entry of the ledger only if one of these stands in its bytes."""


def dice_entry(plain: Mapping[str, Plain]) -> DiceEntry | None:
    """Return what a record adds to the ledger of dice."""
    if plain["kind"] != "step" or (kind := plain["event"]["type"]) not in _OF_DICE:
        return None
    event = plain["event"]
    what = _OF_DICE[kind] or _word(event["what"])
    is_first = "dice_named" in _noticed(plain)
    by = tuple(persons(event))
    entry = (plain["sequence"], _word(plain["wall"]), what, _words(event["serials"]))
    return DiceEntry(*entry, by, is_first)


def tossed_by(plain: Mapping[str, Plain]) -> Iterator[tuple[Values, bool]]:
    """Yield the values of each round that a record ends, and whether they stand as the dice lay,
    from left to right: a person enters them in any order.
    """
    for command in _decided(plain, "RecordRound"):
        if (values := values_of(command.get("values"))) is not None:
            yield values, command.get("source") == "verified"


def clears_shaker(plain: Mapping[str, Plain]) -> bool:
    """True where a technician clears the shaker's faults."""
    if plain["kind"] != "step" or plain["event"]["type"] != "FaultCleared":
        return False
    return bool(plain["event"]["kind"] == "shaker")


def proof_in(plain: Mapping[str, Plain]) -> dict[str, Plain] | None:
    """Return how a toss went that a record proves, with its purpose and number."""
    if plain["kind"] != "step" or plain["event"]["type"] != "TossSettled":
        return None
    return {**plain["event"]["proof"], **(plain["event"].get("occasion") or {})}


def verdict_in(plain: Mapping[str, Plain]) -> dict[str, Plain]:
    """Return what the reader said in a record, of whatever purpose; empty: nothing."""
    found: dict[str, Plain] = plain.get("event", {}).get("verdict", {})
    return found


def raised_by(plain: Mapping[str, Plain]) -> list[tuple[str, str]]:
    """Return kind and code of each fault that a record raises."""
    return [(each["kind"], each["code"]) for each in _decided(plain, "RaiseFault")]


def _noticed(plain: Mapping[str, Plain]) -> set[str]:
    return {each["notice"] for each in _decided(plain, "Announce")}


def disputes(plain: Mapping[str, Plain]) -> bool:
    """Whether a record is of a person who disputes a reading, and not of a start after that."""
    return "dispute" in _noticed(plain) and plain["event"]["type"] != "Restarted"


def interrupts(plain: Mapping[str, Plain]) -> bool:
    """Whether a record is of a start that found a round in hand."""
    is_start = plain["event"]["type"] == "Restarted"
    return is_start and not {"inspection_due", "out_of_service"} & _noticed(plain)


def pushed_by(plain: Mapping[str, Plain]) -> list[tuple[int, tuple[str, ...]]]:
    """Return the round and the areas of each push of lamps in play that a record commands."""
    pushes = [each for each in _decided(plain, "PushLamps") if "occasion" in each]
    return [
        (each["occasion"]["number"], tuple(each["areas"])) for each in pushes if is_of_play(each)
    ]
