"""The commands, and a typed line to one of them.

Owns every command's words, arguments, help and the roles that may give it. Must not know the
table's state, sessions or effects. Three kinds: *look* changes nothing, *own* concerns this
console alone, *act* is handed to the rules. Only looks and owns may be abbreviated: with acts a
stray letter and Enter would be a command.

A dealer plays on a number pad: some acts have a key of their own, and three values alone are
`enter`. A key means one act in every state; the rules refuse it where it is out of place.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from shaker_ctl.console import arguments as args
from shaker_ctl.console import codes
from shaker_ctl.frozen import frozen
from shaker_ctl.rules.vocabulary import Role

MAX_LINE = 200
"""Characters; the longest command, `dice corrected` with three long serials, has 113."""


class CommandKind(Enum):
    LOOK = "look"
    OWN = "own"
    ACT = "act"


@frozen
class Form:
    """One command as it may be typed."""

    words: tuple[str, ...]
    usage: str
    summary: str
    read: args.Reader
    kind: CommandKind
    roles: frozenset[Role] = frozenset()
    """Who may give it; empty: anyone, without login."""
    key: str = ""
    """What a number pad types for it."""
    did: str = ""
    """What an act did, in one sentence: said when the rules have taken it. `{values}` and other
    arguments in words; empty where the sentence follows from more than these."""

    @property
    def name(self) -> str:
        return " ".join(self.words)

    @property
    def line(self) -> str:
        return f"{self.name} {self.usage}".strip()

    @property
    def help(self) -> str:
        return f"{self.summary} (key `{self.key}`)" if self.key else self.summary

    @property
    def is_of_a_round(self) -> bool:
        """An act on a round, whose number need not be typed: the one on the screen is meant."""
        return self.kind is CommandKind.ACT and self.usage.startswith("[ROUND]")


@frozen
class TypedCommand:
    """A line that made sense."""

    form: Form
    arguments: args.Arguments


@frozen
class ConsoleRefusal:
    """A line that did not, or an act that is not permitted."""

    code: str
    text: str


_DEALER = frozenset({Role.DEALER})
_FLOOR = frozenset({Role.FLOORPERSON, Role.SUPERVISOR})
_TECHNICIAN = frozenset({Role.TECHNICIAN})


def _look(
    words: str,
    summary: str,
    usage: str = "",
    read: args.Reader = args.nothing,
    roles: frozenset[Role] = frozenset(),
) -> Form:
    return Form(tuple(words.split()), usage, summary, read, CommandKind.LOOK, roles)


def _own(words: str, summary: str, usage: str = "", read: args.Reader = args.nothing) -> Form:
    return Form(tuple(words.split()), usage, summary, read, CommandKind.OWN)


def _act(
    roles: frozenset[Role],
    words: str,
    summary: str,
    usage: str = "",
    read: args.Reader = args.nothing,
    key: str = "",
    *,
    did: str = "",
) -> Form:
    return Form(tuple(words.split()), usage, summary, read, CommandKind.ACT, roles, key, did)


def _of_round(roles: frozenset[Role], words: str, summary: str, did: str, key: str = "") -> Form:
    return _act(roles, words, summary, "[ROUND]", args.maybe_round, key, did=did)


FORMS: tuple[Form, ...] = (
    _look("status", "the table in a few lines: state, what it waits for, faults"),
    _look("faults", "what is wrong: code, time, cause, remedy"),
    _look("lamps", "areas commanded and measured, phase, health of the lamp box"),
    _look("motor", "speed, duty, current, contacts, the last toss as a curve"),
    _look("camera", "frames a second, exposure, sharpness, last reading"),
    _look("camera snap", "a picture of now, sent over this line"),
    _look("dice", "serials, age and its limit, wear"),
    _look("journal last", "the newest records", "[N]", args.count),
    _look("round", "one round: read, entered, lamps, how it ended", "N", args.a_round),
    _look("inspection", "how far the inspection has come, and what is due"),
    _look("profile", "the rules in force, each with its clause"),
    _look("digests", "version, and SHA-256 of program, model, profile, settings"),
    _look("health", "temperature, power, disk, memory, clock"),
    _look("meters", "rounds, voids, no rolls, openings, stops, starts since the last clearing"),
    _look("statistics", "figures on the outcomes, with sample size and power"),
    _own("help", "what is allowed now; one command; all; codes", "[CMD|all|codes]", args.topic),
    _own("login", "say who you are; the passphrase is asked for", "ROLE NAME", args.who),
    _own("logout", "end the login"),
    _own("whoami", "who is logged in here"),
    _own("history", "the commands given here"),
    _own(
        "mode",
        "people: words; colour; plain: ASCII alone; machine: JSON lines",
        "people|colour|plain|machine",
        args.one_of("mode", "people", "colour", "plain", "machine"),
    ),
    _own("hello", "the banner and the READY line again"),
    _act(
        _DEALER,
        "bets",
        "open the bets of the next round",
        key="+",
        did="The next round is asked for.",
    ),
    _of_round(_DEALER, "nmb", "no more bets", "No more bets: noted.", "*"),
    _of_round(_DEALER, "activate", "start the shaker", "The shaker is asked to start.", "/"),
    _of_round(_DEALER, "reveal", "have the cover opened", "The reveal is called.", "//"),
    _act(
        _DEALER,
        "enter",
        "enter the dice as you see them; `346` alone says the same",
        "[ROUND] A B C",
        args.round_and_values,
        did="{values} is entered.",
    ),
    _of_round(
        _DEALER, "no-roll", "call no roll: not all three dice lie flat", "No roll is called.", "000"
    ),
    _of_round(_DEALER, "settled", "wagers collected and paid", "Wagers are settled: noted.", "-"),
    _of_round(_DEALER, "lamps-off", "clear the lit areas", "The lamps are told to go dark.", "."),
    _act(
        _DEALER | _FLOOR,
        "in-view",
        "after an interruption: whether the locked compartment stayed in your view; `no` twice",
        "[ROUND] yes|no",
        args.round_and_word,
    ),
    _act(
        _DEALER | _FLOOR,
        "correct",
        "another result than was typed: the dealer names it, a floorperson repeats it",
        "[ROUND] A B C|no-roll",
        args.decision,
        did="The correction is agreed: {values}.",
    ),
    _of_round(
        _FLOOR,
        "cover off",
        "overdue reveal: the cover is off, its contact stuck; the dealer says so by `reveal`",
        "The cover is said to be off.",
    ),
    _act(
        _FLOOR,
        "lid",
        "release the lid's latch for some seconds, between rounds",
        did="The lid is released.",
    ),
    _of_round(_FLOOR, "presence", "you are at the table", "Presence is noted."),
    _act(_FLOOR, "sign", "sign the inspection that has passed", did="The signature is on record."),
    _act(
        _FLOOR,
        "decide",
        "decide between dealer and reader",
        "[ROUND] A B C|no-roll",
        args.decision,
        did="The dispute is decided: {values}.",
    ),
    _act(
        _FLOOR,
        "inspect",
        "make an inspection; `inspect` alone names the steps",
        "STEP [A B C|AREA]",
        args.inspection,
    ),
    _act(_FLOOR, "open", "open the table for play", did="The opening is asked for."),
    _act(
        _FLOOR, "close", "close the table after the round in hand", did="The closing is asked for."
    ),
    _act(_FLOOR, "shift start", "a new shift begins", did="A new shift is noted."),
    _act(
        _FLOOR,
        "time confirm",
        "the clock shown by `health` is right",
        did="The clock is confirmed.",
    ),
    _act(
        _FLOOR,
        "dice changed",
        "other dice are locked in",
        "SERIAL SERIAL SERIAL",
        args.serials,
        did="Dice {serials} are recorded.",
    ),
    _act(
        _FLOOR,
        "dice corrected",
        "a serial was typed wrongly, and the dice are not used yet; a second person repeats it",
        "SERIAL SERIAL SERIAL",
        args.serials,
        did="Serials are put right: dice {serials} are recorded.",
    ),
    _act(
        _FLOOR,
        "dice same",
        "the compartment was opened, and the same dice are in it",
        did="The same dice are in.",
    ),
    _act(
        _FLOOR | _TECHNICIAN,
        "out-of-order",
        "out of service; then again, with the steps taken: a manual shaker may be used",
        "[STEP ...]",
        args.steps,
        did="The shaker is reported out of order.",
    ),
    _act(
        _TECHNICIAN,
        "return-to-service",
        "back, to a new inspection",
        did="The return to service is on record.",
    ),
    _act(
        _TECHNICIAN,
        "shaker back",
        "the automated shaker stands ready again, its dice out",
        did="The shaker is reported back.",
    ),
    _act(
        _TECHNICIAN,
        "fault clear",
        "what the code names is repaired",
        "CODE",
        args.code,
        did="Fault {code} is cleared.",
    ),
    _act(
        _TECHNICIAN,
        "jog",
        "turn the motor, table closed",
        "RPM SECONDS",
        args.jog,
        did="A jog of the motor is asked for.",
    ),
    _act(
        _TECHNICIAN,
        "test-toss",
        "one toss that counts for nothing, table closed",
        did="A test toss is asked for.",
    ),
    _act(
        _TECHNICIAN,
        "lamp test",
        "one lamp, or each in turn, table closed",
        "[AREA]",
        args.area,
        did="A trial of the lamps is asked for.",
    ),
    _act(_TECHNICIAN, "light", "ring light in percent, table closed", "LEVEL", args.level),
    _act(_TECHNICIAN, "selftest", "every device that can be tried without a toss"),
    _act(
        _FLOOR | _TECHNICIAN,
        "meters clear",
        "begin the meters anew, table closed; a second person repeats it",
    ),
    _act(
        _FLOOR | _TECHNICIAN,
        "cancel",
        "give up the inspection or trial under way (Ctrl-C)",
        did="What was under way is given up.",
    ),
    _look("log bundle", "journal slice, settings, versions, pictures", roles=_TECHNICIAN),
    _look(
        "answer",
        "what openssl says of the approved files under an inspector's SEED",
        "SEED",
        args.seed,
        roles=_FLOOR | _TECHNICIAN,
    ),
    _look("export", "the sealed journal, for an inspector", roles=_TECHNICIAN),
)

BY_NAME: dict[str, Form] = {form.name: form for form in FORMS}
BY_KEY: dict[str, Form] = {form.key: form for form in FORMS if form.key}
ALIASES = {"?": "help", "st": "status", "next": "status", "quit": "logout", "exit": "logout"}
_MAX_WORDS = max(len(form.words) for form in FORMS)


def parse(line: str) -> TypedCommand | ConsoleRefusal | None:
    """Return the command on this line, why it is none, or None for an empty line.

    Nothing of the line is repeated in a refusal: it may be a passphrase typed at the wrong moment.
    """
    words = line.split()
    if not words:
        return None
    if (keyed := _by_number_pad(words)) is not None:
        return keyed
    words[0] = ALIASES.get(words[0].lower(), words[0])
    found = _find([word.lower() for word in words[:_MAX_WORDS]])
    if isinstance(found, ConsoleRefusal):
        return found
    try:
        return TypedCommand(found, found.read(words[len(found.words) :]))
    except args.ArgumentsError as wrong:
        return ConsoleRefusal(codes.SYNTAX, f"{found.line}: {wrong}")


def _by_number_pad(words: list[str]) -> TypedCommand | None:
    """A key of its own, or three values: what the dealer sees."""
    if len(words) == 1 and (form := BY_KEY.get(words[0])):
        return TypedCommand(form, {})
    try:
        return TypedCommand(BY_NAME["enter"], {"values": args.values(words)})
    except args.ArgumentsError:
        return None


def typed(name: str) -> str:
    """Return what to type for an act: its words, and its key where it has one."""
    form = BY_NAME[name]
    return f"{name} (key {form.key})" if form.key else name


def named(words: str) -> Form | ConsoleRefusal:
    """Return the command of that name, for help: here an abbreviated act is no danger."""
    exact = BY_NAME.get(ALIASES.get(words, words))
    if exact:
        return exact
    found = _find(words.split())
    if isinstance(found, ConsoleRefusal) and found.code == codes.WHOLE_WORD:
        return next(iter(_abbreviated(words.split())))
    return found


def complete(text: str, roles: frozenset[Role]) -> list[str]:
    """Return the words that the last, perhaps empty, word of `text` may become."""
    *before, last = text.lower().split(" ") if text else [""]
    before = [word for word in before if word]
    if before[:1] == ["help"]:
        before = before[1:]
    at = len(before)
    return sorted(
        {
            form.words[at]
            for form in FORMS
            if len(form.words) > at
            and list(form.words[:at]) == before
            and form.words[at].startswith(last)
            and (not form.roles or form.roles & roles)
        }
    )


def _find(words: list[str]) -> Form | ConsoleRefusal:
    # The longest whole match wins, so that `camera snap` is not `camera` with an argument.
    for length in range(min(_MAX_WORDS, len(words)), 0, -1):
        if exact := BY_NAME.get(" ".join(words[:length])):
            return exact
    fitting = list(_abbreviated(words))
    if not fitting:
        return _no_command(words)
    longest = max(len(form.words) for form in fitting)
    fitting = [form for form in fitting if len(form.words) == longest]
    if len(fitting) > 1:
        names = ", ".join(form.name for form in fitting)
        return ConsoleRefusal(codes.AMBIGUOUS, f"this may be {names}")
    if fitting[0].kind is CommandKind.ACT:
        return ConsoleRefusal(codes.WHOLE_WORD, f"write it in full: {fitting[0].line}")
    return fitting[0]


def _abbreviated(words: list[str]) -> Iterable[Form]:
    for form in FORMS:
        given = words[: len(form.words)]
        if len(given) == len(form.words) and all(
            whole.startswith(part) for whole, part in zip(form.words, given, strict=True)
        ):
            yield form


def _no_command(words: list[str]) -> ConsoleRefusal:
    partly = [form for form in FORMS if form.words[0] == words[0]]
    if partly:
        return ConsoleRefusal(codes.SYNTAX, " or ".join(form.line for form in partly))
    return ConsoleRefusal(codes.UNKNOWN, "there is no such command; type help")
