"""What may stand behind a command's words, and what it means.

Owns one small reader per argument list. Must not know roles, states or effects. Each takes the
words after the command and returns named arguments, or raises `ArgumentsError` with a text for a
person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from shaker_ctl.rules.outcome import Values
from shaker_ctl.rules.regulation import AREA
from shaker_ctl.rules.vocabulary import DiceStep, RetireStep, Role

Arguments = Mapping[str, object]
Reader = Callable[[Sequence[str]], Arguments]

_NAME = re.compile(r"[\w][\w.-]{0,31}")
_CODE = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_SERIAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9./_-]{0,31}")
_SEED = re.compile(r"[A-Za-z0-9]{1,64}")
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
_DECIMAL = re.compile(r"\d{1,5}(\.\d{1,3})?", re.ASCII)
_DICE = re.compile(r"[1-6]{3}", re.ASCII)

JOG_RPM = (60.0, 900.0)
"""Slower is below what the tach can prove; faster lies outside every approved shake."""
JOG_S = (0.2, 10.0)
MAX_RECORDS = 200


class ArgumentsError(ValueError):
    """The words do not fit; the text says what would."""


def nothing(words: Sequence[str]) -> Arguments:
    if words:
        raise ArgumentsError("nothing may follow")
    return {}


def integer(word: str, what: str, low: int, high: int) -> int:
    if not _NUMBER.fullmatch(word) or not low <= int(word) <= high:
        raise ArgumentsError(f"{what} is a whole number from {low} to {high}")
    return int(word)


def decimal(word: str, what: str, low: float, high: float) -> float:
    if not _DECIMAL.fullmatch(word) or not low <= float(word) <= high:
        raise ArgumentsError(f"{what} is a number from {low:g} to {high:g}")
    return float(word)


def round_number(word: str) -> int:
    return integer(word, "ROUND", 1, 999_999_999)


def values(words: Sequence[str]) -> Values:
    """Three values, in one word as a number pad types them or in three."""
    if len(words) == 1 and _DICE.fullmatch(words[0]):
        words = tuple(words[0])
    if len(words) != 3:
        raise ArgumentsError("three values are needed, 1 to 6 each")
    a, b, c = (integer(word, "a value", 1, 6) for word in words)
    return a, b, c


def a_round(words: Sequence[str]) -> Arguments:
    return {"round": round_number(_only(words, "ROUND"))}


def maybe_round(words: Sequence[str]) -> Arguments:
    """A round that may be left out: the console then names the one it sees."""
    word = _at_most_one(words, "ROUND")
    return {} if word is None else {"round": round_number(word)}


def round_and_values(words: Sequence[str]) -> Arguments:
    number, rest = _maybe_round_before(words)
    return {**number, "values": values(rest)}


def round_and_word(words: Sequence[str]) -> Arguments:
    number, rest = _maybe_round_before(words)
    word = _only(rest, "yes or no").lower()
    if word not in ("yes", "no"):
        raise ArgumentsError("yes or no is needed")
    return {**number, "stayed": word == "yes"}


def decision(words: Sequence[str]) -> Arguments:
    number, rest = _maybe_round_before(words)
    if [word.lower() for word in rest] == ["no-roll"]:
        return {**number, "values": None}
    return {**number, "values": values(rest)}


def _maybe_round_before(words: Sequence[str]) -> tuple[Arguments, Sequence[str]]:
    """Split off the round: what follows is one word, or three values."""
    if not words or len(words) % 2:
        return {}, words
    return {"round": round_number(words[0])}, words[1:]


def one_of(name: str, *choices: str) -> Reader:
    def read(words: Sequence[str]) -> Arguments:
        word = _only(words, " or ".join(choices)).lower()
        if word not in choices:
            raise ArgumentsError(f"one of {', '.join(choices)} is needed")
        return {name: word}

    return read


def just(**said: object) -> Reader:
    """A reader of a command whose words say all."""

    def read(words: Sequence[str]) -> Arguments:
        nothing(words)
        return said

    return read


def three(words: Sequence[str]) -> Arguments:
    return {"values": values(words)}


def count(words: Sequence[str]) -> Arguments:
    word = _at_most_one(words, "N")
    return {"count": 10 if word is None else integer(word, "N", 1, MAX_RECORDS)}


def serials(words: Sequence[str]) -> Arguments:
    found = _serials(words)
    if len(found) != 3 or len(set(found)) != 3:
        raise ArgumentsError("the serials of three different dice are needed")
    return {"serials": found}


def _serials(words: Sequence[str]) -> tuple[str, ...]:
    found = tuple(word for word in re.split(r"[,\s]+", " ".join(words)) if word)
    if not all(_SERIAL.fullmatch(serial) for serial in found):
        raise ArgumentsError("a serial is up to 32 letters, digits, . / _ -")
    return found


def dice_step(words: Sequence[str]) -> Arguments:
    known = {step.value: step for step in DiceStep}
    step = known.get(words[0].lower()) if words else None
    if step is None:
        raise ArgumentsError(f"WHAT is one of {', '.join(known)}")
    found = _serials(words[1:])
    if not found or len(set(found)) != len(found):
        raise ArgumentsError("the serials of one or more different dice are needed")
    return {"what": step, "serials": found}


def steps(words: Sequence[str]) -> Arguments:
    known = {step.value.replace("_", "-"): step for step in RetireStep}
    for word in words:
        if word.lower() not in known:
            raise ArgumentsError(f"a step is one of {', '.join(known)}")
    return {"steps": frozenset(known[word.lower()] for word in words)}


def code(words: Sequence[str]) -> Arguments:
    word = _only(words, "CODE").lower()
    if not _CODE.fullmatch(word):
        raise ArgumentsError("CODE is a word from the first column of `faults`")
    return {"code": word}


def jog(words: Sequence[str]) -> Arguments:
    if len(words) != 2:
        raise ArgumentsError("RPM and SECONDS are needed")
    return {
        "rpm": decimal(words[0], "RPM", *JOG_RPM),
        "seconds": decimal(words[1], "SECONDS", *JOG_S),
    }


def an_area(words: Sequence[str]) -> Arguments:
    return {"area": _area(_only(words, "AREA"))}


def maybe_area(words: Sequence[str]) -> Arguments:
    word = _at_most_one(words, "AREA")
    return {"areas": () if word is None else (_area(word),)}


def _area(word: str) -> str:
    if not AREA.fullmatch(word.lower()):
        raise ArgumentsError("AREA is a name such as small, pair-2-5, total-10; `lamps` shows them")
    return word.lower()


def seed(words: Sequence[str]) -> Arguments:
    word = _only(words, "SEED")
    if not _SEED.fullmatch(word):
        raise ArgumentsError("SEED has 1 to 64 letters and digits, as the inspector chose them")
    return {"seed": word}


def level(words: Sequence[str]) -> Arguments:
    return {"level": decimal(_only(words, "LEVEL").rstrip("%"), "LEVEL (percent)", 0, 100) / 100}


def who(words: Sequence[str]) -> Arguments:
    """ROLE NAME. A passphrase on the same line is refused unseen: it would stand on the screen."""
    if len(words) != 2:
        raise ArgumentsError("ROLE and NAME are needed, the passphrase is asked for afterwards")
    known = {role.value: role for role in Role}
    role = known.get(words[0].lower())
    if role is None:
        raise ArgumentsError(f"ROLE is one of {', '.join(known)}")
    if not _NAME.fullmatch(words[1]):
        raise ArgumentsError("NAME is up to 32 letters, digits, . _ -")
    return {"role": role, "name": words[1]}


def topic(words: Sequence[str]) -> Arguments:
    return {"topic": " ".join(words[:3]).lower()}


def _only(words: Sequence[str], what: str) -> str:
    if len(words) != 1:
        raise ArgumentsError(f"exactly one {what} is needed")
    return words[0]


def _at_most_one(words: Sequence[str], what: str) -> str | None:
    if len(words) > 1:
        raise ArgumentsError(f"at most one {what} may follow")
    return words[0] if words else None
