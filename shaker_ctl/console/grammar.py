"""The commands, and a typed line to one of them.

Owns every command: its words, arguments, help, samples, the roles that may give it, the event that
an act makes, and what its answer says. Must not know the table's state, sessions or effects. Three
kinds: *look* changes nothing, *own* concerns this console alone, *act* is handed to the rules. Only
looks and owns may be abbreviated: with acts a stray letter and Enter would be a command.

A dealer plays on a number pad: some acts have a key of their own, and three values alone are
`enter`. A key means one act in every state; the rules refuse it where it is out of place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from enum import Enum
from typing import Any, cast

from shaker_ctl.console import arguments as args
from shaker_ctl.console import codes
from shaker_ctl.frozen import frozen
from shaker_ctl.rules import events
from shaker_ctl.rules.events import Event
from shaker_ctl.rules.vocabulary import Part, Role, WalkStep

Behind = tuple[str, args.Reader, tuple[str, ...]]
"""What may stand behind an act's words: usage, reader, samples."""
Said = Mapping[str, object]
"""What is known of an act, by the names of its event's fields."""

MAX_LINE = 200
"""Characters; the longest command, `dice corrected` with three long serials, has 113."""

MACHINE = "machine"
"""The `mode` of scripts."""


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
    samples: tuple[str, ...] = ("",)
    """What may stand behind the words: tried to see what is allowed, and by proofs and tests."""
    makes: type[Event] | Callable[[Said], type[Event]] | None = None
    """The event that the rules judge; None: an act on a device, or on the meters."""
    did: str = ""
    """What an act did, in one sentence: said when the rules have taken it. `{values}` and other
    arguments in words."""
    did_first: str = ""
    """What it did where a second person has yet to repeat it, in one sentence."""
    key: str = ""
    """What a number pad types for it."""
    is_long: bool = False
    """Starts work which goes on for a while; people watch it, Ctrl-C gives it up."""
    is_verdict: bool = False
    """Says how the dice lie. It means the reading on the screen, and is typed each time."""

    @property
    def name(self) -> str:
        return " ".join(self.words)

    @property
    def line(self) -> str:
        return f"{self.name} {self.usage}".strip()

    @property
    def help(self) -> str:
        return f"{self.summary} (key `{self.key}`)" if self.key else self.summary

    def typed_samples(self) -> tuple[TypedCommand, ...]:
        """The command, once with each of its samples."""
        return tuple(TypedCommand(self, self.read(one.split())) for one in self.samples)

    @property
    def is_of_a_round(self) -> bool:
        """An act on a round, whose number need not be typed: the one on the screen is meant."""
        return self.kind is CommandKind.ACT and self.usage.startswith("[ROUND]")


@frozen
class TypedCommand:
    """A line that made sense. A round that it leaves out is the one on the screen."""

    form: Form
    arguments: args.Arguments

    @property
    def name(self) -> str:
        return self.form.name

    def event(self, known: Said) -> Event:
        """The event of an act: each of its fields by name, as typed or else as `known`."""
        said, makes = {**known, **self.arguments}, self.form.makes
        kind: Any = makes if isinstance(makes, type) else cast(Any, makes)(said)
        return cast(Event, kind(**{name: said[name] for name in kind.__match_args__}))

    def did(self, *, is_first: bool) -> str:
        """What the act did; `is_first`: a second person has to say it, too."""
        said = {name: _in_words(value) for name, value in self.arguments.items()}
        return ((is_first and self.form.did_first) or self.form.did).format_map(said)


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
    sample: str = "",
    roles: frozenset[Role] = frozenset(),
) -> Form:
    return Form(tuple(words.split()), usage, summary, read, CommandKind.LOOK, roles, (sample,))


def _own(
    words: str, summary: str, usage: str = "", read: args.Reader = args.nothing, sample: str = ""
) -> Form:
    own = CommandKind.OWN
    return Form(tuple(words.split()), usage, summary, read, own, samples=(sample,))


def _act(
    roles: frozenset[Role],
    words: str,
    summary: str,
    makes: type[Event] | Callable[[Said], type[Event]] | None = None,
    did: str = "",
    behind: Behind = ("", args.nothing, ("",)),
    **more: Any,
) -> Form:
    act, (usage, read, samples) = CommandKind.ACT, behind
    return Form(tuple(words.split()), usage, summary, read, act, roles, samples, makes, did, **more)


def _of_round(
    roles: frozenset[Role], words: str, summary: str, makes: type[Event], did: str, **more: Any
) -> Form:
    return _act(roles, words, summary, makes, did, ("[ROUND]", args.maybe_round, ("",)), **more)


def _inspects(step: str, summary: str, makes: type[Event], did: str, *behind: Behind) -> Form:
    return _act(_FLOOR, f"inspect {step}", summary, makes, did, *behind, is_long=True)


def _says(**said: object) -> Behind:
    """Of a command whose words say all."""
    return "", args.just(**said), ("",)


def _part(part: Part, summary: str) -> Form:
    did = f"The inspection is asked for: {part.value}."
    return _inspects(part.value, summary, events.InspectionRequested, did, _says(part=part))


def _walk(step: WalkStep, summary: str, did: str) -> Form:
    return _inspects(step.value, summary, events.WalkSteered, did, _says(step=step))


def _correction(said: Said) -> type[Event]:
    """The dealer names another result; anybody else agrees to it."""
    is_dealer = cast(Any, said["person"]).role is Role.DEALER
    return events.CorrectionNamed if is_dealer else events.CorrectionAgreed


def _out_of_order(said: Said) -> type[Event]:
    return events.ShakerRetired if said["steps"] else events.OutOfServiceRequested


FORMS: tuple[Form, ...] = (
    _look("status", "the table in a few lines: state, what it waits for, faults"),
    _look("faults", "what is wrong: code, time, cause, remedy"),
    _look("lamps", "areas commanded and measured, phase, health of the lamp box"),
    _look("motor", "speed, duty, current, contacts, the last toss as a curve"),
    _look("camera", "frames a second, exposure, sharpness, last reading"),
    _look("camera snap", "a picture of now, sent over this line"),
    _look("dice", "serials, age and its limit, wear, what their test found"),
    _look("journal last", "the newest records", "[N]", args.count, "20"),
    _look("round", "one round: read, entered, lamps, how it ended", "N", args.a_round, "12"),
    _look("inspection", "how far the inspection has come, and what is due"),
    _look("profile", "the rules in force, each with its clause"),
    _look("digests", "version, and SHA-256 of program, model, profile, settings"),
    _look("health", "temperature, power, disk, memory, clock"),
    _look("meters", "rounds, voids, no rolls, openings, stops, starts since the last clearing"),
    _look("statistics", "figures on the outcomes, with sample size and power"),
    _own("help", "what is allowed now; one command; all; codes", "[CMD|all|codes]", args.topic),
    _own(
        *("login", "say who you are; the passphrase is asked for", "ROLE NAME", args.who),
        "dealer dan",
    ),
    _own("logout", "end the login"),
    _own("whoami", "who is logged in here"),
    _own("history", "the commands given here"),
    _own(
        "mode",
        "people: words; machine: JSON lines",
        f"people|{MACHINE}",
        args.one_of("mode", "people", MACHINE),
        MACHINE,
    ),
    _own("hello", "the banner and the READY line again"),
    _act(
        *(_DEALER, "bets", "open the bets of the next round"),
        *(events.BetsRequested, "The next round is asked for."),
        key="+",
    ),
    _of_round(
        *(_DEALER, "nmb", "no more bets"),
        *(events.NoMoreBetsCalled, "No more bets: noted."),
        key="*",
    ),
    _of_round(
        *(_DEALER, "activate", "start the shaker"),
        *(events.ActivationRequested, "The shaker is asked to start."),
        key="/",
    ),
    _of_round(
        *(_DEALER, "reveal", "have the cover opened"),
        *(events.RevealRequested, "The reveal is called."),
        key="//",
    ),
    _act(
        *(_DEALER, "enter", "enter the dice as you see them; `346` alone says the same"),
        *(events.ValuesEntered, "{values} is entered."),
        ("[ROUND] A B C", args.round_and_values, ("1 1 1", "345")),
        is_verdict=True,
    ),
    _of_round(
        *(_DEALER, "no-roll", "call no roll: not all three dice lie flat"),
        *(events.NoRollCalled, "No roll is called."),
        key="000",
        is_verdict=True,
    ),
    _of_round(
        *(_DEALER, "settled", "wagers collected and paid"),
        *(events.WagersSettled, "Wagers are settled: noted."),
        key="-",
    ),
    _of_round(
        *(_DEALER, "lamps-off", "clear the lit areas"),
        *(events.LampsOffRequested, "The lamps are told to go dark."),
        key=".",
    ),
    _act(
        _DEALER | _FLOOR,
        "in-view",
        "after an interruption: whether the locked compartment stayed in your view; `no` twice",
        *(events.CompartmentWatched, "Compartment in view all along: {stayed}; noted."),
        ("[ROUND] yes|no", args.round_and_word, ("yes", "no")),
    ),
    _act(
        _DEALER | _FLOOR,
        "correct",
        "another result than was typed: the dealer names it, a floorperson repeats it",
        *(_correction, "The correction is agreed: {values}."),
        ("[ROUND] A B C|no-roll", args.decision, ("1 1 1", "3 4 5", "no-roll")),
        did_first="Named in the result's place: {values}; a floorperson who agrees repeats it.",
        is_verdict=True,
    ),
    _of_round(
        _FLOOR,
        "cover off",
        "overdue reveal: the cover is off, its contact stuck; the dealer says so by `reveal`",
        *(events.RevealRequested, "The cover is said to be off."),
    ),
    _act(
        *(_FLOOR, "lid", "release the lid's latch for some seconds, between rounds"),
        *(events.LidRequested, "The lid is released."),
    ),
    _of_round(
        *(_FLOOR, "presence", "you are at the table"), *(events.PresenceGiven, "Presence is noted.")
    ),
    _act(
        *(_FLOOR, "sign", "sign the inspection that has passed"),
        *(events.Signed, "The signature is on record."),
    ),
    _act(
        *(_FLOOR, "decide", "decide between dealer and reader"),
        *(events.DisputeDecided, "The dispute is decided: {values}."),
        ("[ROUND] A B C|no-roll", args.decision, ("3 4 5", "no-roll")),
        is_verdict=True,
    ),
    _part(Part.ALL, "make the whole inspection"),
    _part(Part.LAMPS, "inspect the lamps alone"),
    _part(Part.SHAKER, "inspect the shaker alone"),
    _act(
        *(frozenset({Role.SUPERVISOR}), "inspect shift", "make the inspection of a new shift"),
        *(events.ShiftInspectionRequested, "The inspection is asked for: shift."),
        is_long=True,
    ),
    _inspects(
        *("enter", "light what three values of your choice win"),
        *(events.LampValuesEntered, "{values} is entered for the lamps."),
        ("A B C", args.three, ("1 4 4",)),
    ),
    _inspects(
        *("seen", "you saw what was lit, and it was right"), *(events.LampsSeen, "Seen: noted.")
    ),
    _inspects(
        *("wrong", "the lamp of an area is not as it should be"),
        *(events.LampSeenWrong, "Area {area} is reported wrong."),
        ("AREA", args.an_area, ("small",)),
    ),
    _inspects(
        *("walk", "light every lamp alone, one after the other"),
        *(events.WalkRequested, "The walk over every lamp is asked for."),
    ),
    _walk(WalkStep.PAUSE, "hold the walk at its lamp", "The walk pauses."),
    _walk(WalkStep.ON, "go on with the walk", "The walk goes on."),
    _walk(WalkStep.BACK, "go back one lamp", "The walk goes back one lamp."),
    _walk(WalkStep.AGAIN, "begin the walk again", "The walk begins again."),
    _inspects(
        *("cycle", "start the shaker once and watch it"),
        *(events.CycleRequested, "A cycle of the shaker is asked for."),
    ),
    _inspects(
        *("tossed", "the dice were properly tossed"),
        *(events.CycleJudged, "Properly tossed: noted."),
        _says(tossed=True),
    ),
    _inspects(
        *("not-tossed", "the dice were not properly tossed"),
        *(events.CycleJudged, "Not properly tossed: noted."),
        _says(tossed=False),
    ),
    _act(
        *(_FLOOR, "open", "open the table for play"),
        *(events.OpenRequested, "The opening is asked for."),
    ),
    _act(
        *(_FLOOR, "close", "close the table after the round in hand"),
        *(events.CloseRequested, "The closing is asked for."),
    ),
    _act(
        *(_FLOOR, "shift start", "a new shift begins"),
        *(events.ShiftBegan, "A new shift is noted."),
    ),
    _act(
        *(_FLOOR, "time confirm", "the clock shown by `health` is right"),
        *(events.TimeConfirmed, "The clock is confirmed."),
    ),
    _act(
        *(_FLOOR, "dice changed", "other dice are locked in"),
        *(events.DiceChanged, "Dice {serials} are recorded."),
        ("SERIAL SERIAL SERIAL", args.serials, ("x.1 x.2 x.3",)),
        did_first="Dice {serials} are named; a second person repeats the same command.",
    ),
    _act(
        _FLOOR,
        "dice corrected",
        "a serial was typed wrongly, and the dice are not used yet; a second person repeats it",
        *(events.DiceCorrected, "Serials are put right: dice {serials} are recorded."),
        ("SERIAL SERIAL SERIAL", args.serials, ("x.1 x.2 x.3",)),
        did_first="Dice {serials} are named; a second person repeats the same command.",
    ),
    _act(
        *(_FLOOR, "dice log", "dice outside of the shaker: what became of them"),
        *(events.DiceLogged, "Logged: {what}, dice {serials}. If two sign, the other repeats it."),
        ("WHAT SERIAL ...", args.dice_step, ("received x.1 x.2 x.3", "destroyed x.1")),
    ),
    _act(
        *(_FLOOR, "dice same", "the compartment was opened, and the same dice are in it"),
        *(events.DiceKept, "The same dice are in."),
        did_first="The same dice are in, says one person; a second one repeats the same command.",
    ),
    _act(
        _FLOOR | _TECHNICIAN,
        "out-of-order",
        "out of service; then again, with the steps taken: a manual shaker may be used",
        *(_out_of_order, "The shaker is reported out of order."),
        ("[STEP ...]", args.steps, ("", "dice-removed covered-or-signed", "shaker-removed")),
    ),
    _act(
        *(_TECHNICIAN, "return-to-service", "back, to a new inspection"),
        *(events.ReturnRequested, "The return to service is on record."),
    ),
    _act(
        *(_TECHNICIAN, "shaker back", "the automated shaker stands ready again, its dice out"),
        *(events.ShakerRestored, "The shaker is reported back."),
    ),
    _act(
        *(_TECHNICIAN, "fault clear", "what the code names is repaired"),
        *(events.FaultCleared, "Fault {code} is cleared."),
        ("CODE", args.code, ("motor-stall",)),
    ),
    _act(
        *(_TECHNICIAN, "jog", "turn the motor, table closed"),
        *(events.JogRequested, "A jog of the motor is asked for."),
        ("RPM SECONDS", args.jog, ("300 2",)),
        is_long=True,
    ),
    _act(
        *(_TECHNICIAN, "test-toss", "one toss that counts for nothing, table closed"),
        *(events.TrialTossRequested, "A test toss is asked for."),
        is_long=True,
    ),
    _act(
        *(_TECHNICIAN, "lamp test", "one lamp, or each in turn, table closed"),
        *(events.LampTrialRequested, "A trial of the lamps is asked for."),
        ("[AREA]", args.maybe_area, ("", "small")),
        is_long=True,
    ),
    _act(
        *(_TECHNICIAN, "light", "ring light in percent, table closed"),
        behind=("LEVEL", args.level, ("40%",)),
    ),
    _act(_TECHNICIAN, "selftest", "every device that can be tried without a toss"),
    _act(
        _FLOOR | _TECHNICIAN,
        "meters clear",
        "begin the meters anew, table closed; a second person repeats it",
    ),
    _act(
        *(_FLOOR | _TECHNICIAN, "cancel"),
        "give up the inspection or trial under way (Ctrl-C)",
        *(events.InspectionAbandoned, "What was under way is given up."),
    ),
    _look("log bundle", "journal slice, settings, versions, pictures", roles=_TECHNICIAN),
    _look(
        "answer",
        "what openssl says of the approved files under an inspector's SEED",
        *("SEED", args.seed, "Qz81"),
        roles=_FLOOR | _TECHNICIAN,
    ),
    _look("export", "the sealed journal, for an inspector", roles=_TECHNICIAN),
)

BY_NAME: dict[str, Form] = {form.name: form for form in FORMS}
BY_KEY: dict[str, Form] = {form.key: form for form in FORMS if form.key}
ALIASES = {"?": "help", "st": "status", "next": "status", "quit": "logout", "exit": "logout"}
CONFIRM = replace(BY_NAME["enter"], makes=events.ValuesConfirmed, did="{values} is confirmed.")
"""What `enter` means where the dealer types the reading on the screen."""
ACTS = tuple(form for form in (*FORMS, CONFIRM) if form.makes is not None)
"""Acts that the rules judge."""
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


def _in_words(argument: object) -> str:
    if argument is None:  # values that are none
        return "no roll"
    if isinstance(argument, bool):
        return "yes" if argument else "no"
    if isinstance(argument, Enum):
        return str(argument.value)
    if isinstance(argument, tuple):
        return " ".join(map(str, cast(tuple[object, ...], argument)))
    return str(argument)


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
    begun = [form for form in FORMS if form.words[0] == words[0]]
    if not fitting or (len(words) == 1 and len(begun) > 1):  # `inspect` is no `inspection`
        return _no_command(begun)
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


def _no_command(begun: list[Form]) -> ConsoleRefusal:
    if len(begun) > 3:
        rest = ", ".join(form.line.partition(" ")[2] for form in begun)
        return ConsoleRefusal(codes.SYNTAX, f"{begun[0].words[0]}, and one of: {rest}")
    if begun:
        return ConsoleRefusal(codes.SYNTAX, " or ".join(form.line for form in begun))
    return ConsoleRefusal(codes.UNKNOWN, "there is no such command; type help")
