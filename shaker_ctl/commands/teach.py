"""`shaker-ctl teach`: persons confirm tosses, by which the table learns its dice, floor and light.

Owns the conversation. The table is stopped. Nobody is shown what the network reads before all have
said what they see: a person who only nods confirms nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress_bar import ProgressBar

from shaker_ctl import settings
from shaker_ctl.adapters.pins import daemon_network
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.commands.interruption import INTERRUPTED
from shaker_ctl.commands.service_user import become_the_service
from shaker_ctl.commands.signing import signed_in
from shaker_ctl.console.accounts import load
from shaker_ctl.errors import HardwareError, RefusedError, reraise_as
from shaker_ctl.reading.taught_table import Bound, TaughtTable
from shaker_ctl.rules.agreement import is_alike
from shaker_ctl.rules.vocabulary import Person, Role
from shaker_ctl.whole_file import mode, put

if TYPE_CHECKING:  # with these comes all that reads pictures
    from shaker_ctl.adapters.camera.confirmed_tosses import ConfirmedTosses
    from shaker_ctl.commands.bench import Bench
    from vision.calibration import Calibration
    from vision.findings import Findings
    from vision.frame import Frame
    from vision.taught import Toss

screen = Console(highlight=False)

FEWEST, USUAL, MOST = 30, 34, 60
"""Tosses to learn from. Of 34 one may be missed: 97 %."""
VALUES = re.compile(r"[1-6]{3}")
MAX_UNSEEN = 10
"""It ends where the network misses dice in so many flat tosses, and in more than half of all."""
NOT_FLAT, BACK = "n", "b"
KEYS = "values, as 253 · n not all flat · b take the last back · Enter toss again"


Values = tuple[int, ...]
Said = Values | str | None
"""Values; `BACK`; None: no toss to learn from."""


def teach(
    config: Annotated[Path, typer.Option(help="Settings file of the table.")] = DEFAULT_CONFIG,
    tosses: Annotated[
        int, typer.Option(help="Flat tosses to learn from.", min=FEWEST, max=MOST)
    ] = USUAL,
    anew: Annotated[
        bool, typer.Option("--anew", help="Begin with other dice; the kept tosses stay aside.")
    ] = False,
) -> None:
    """Teach the table its dice: it tosses them, you type what lies there, some 34 times.

    Stop the service, lock the dice in and close the lid. Ctrl-C leaves it, and the next call goes
    on there: each toss is kept when it is confirmed. Where table.dice_by_two is set, two persons
    say what lies, one after the other. At the end the table says how many of these tosses it
    reads, each by what the others teach, and what to change where that is too few for automatic
    entry. Then start the service, which is due an inspection.
    """
    from shaker_ctl.adapters.camera.confirmed_tosses import ConfirmedTosses, set_aside
    from shaker_ctl.commands.bench import opened
    from shaker_ctl.doctor.examination import refuse_beside_a_service

    daemon_network.enter()
    become_the_service()
    found = settings.load(config)
    refuse_beside_a_service(found)
    file = found.camera.teaching
    folder = file.with_name(f"{file.name}.tosses")
    try:
        people = _persons(found)
        serials = typer.prompt("Serials of the dice, as on record").split()
        bound = Bound.now(found.camera, tuple(serials))
        if anew:
            set_aside(folder)
        kept = ConfirmedTosses(folder, bound, found.camera.calibration.image_size[0])
        with opened(found) as bench:
            Lesson(kept, people, bench).give(tosses)
        table = learnt(kept.learnt_from(), kept.unseen, bench.calibration, bound, people)
    except (typer.Abort, KeyboardInterrupt):
        typer.echo("\nLeft; shaker-ctl teach goes on here.")
        raise typer.Exit(INTERRUPTED) from None
    with reraise_as(RefusedError, f"cannot write {file}", remedy="Run it as root"):
        put(file, table.to_bytes(), mode(0o640))
    _tell(table, file)
    if not table.is_enough:
        raise typer.Exit(1)


class Lesson:
    """Toss after toss, until enough are confirmed."""

    def __init__(self, kept: ConfirmedTosses, people: Sequence[Person], bench: Bench) -> None:
        self._kept, self._people, self._bench = kept, tuple(people), bench

    def give(self, tosses: int) -> None:
        """Have `tosses` confirmed. Raises RefusedError where the network does not see the dice."""
        if self._kept.kept:
            screen.print(f"{len(self._kept.kept)} tosses are kept; it goes on after them")
        screen.print(KEYS, style="dim")
        while (done := len(self._kept.kept) - self._kept.unseen) < tosses:
            self._refuse_in_vain(done)
            screen.print(ProgressBar(tosses, done, width=30), f" toss {done + 1} of {tosses}")
            self._one()

    def _refuse_in_vain(self, done: int) -> None:
        if self._kept.unseen >= MAX_UNSEEN and self._kept.unseen > done:
            raise RefusedError(
                f"the reader misses dice in {self._kept.unseen} of {len(self._kept.kept)} tosses",
                remedy="Use a floor of another colour than the dice's, and light without glare; "
                "then --anew",
            )

    def _one(self) -> None:
        from vision.table.confirmed import confirmed_toss

        frame, found = self._tossed()
        shown = tuple(die.value for die in found.model)
        said = self._asked()
        if isinstance(said, tuple) and not is_alike(said, shown):
            said = self._looked_again(said, shown)
        if said == BACK and self._kept.kept:
            self._kept.take_back()
        if not isinstance(said, tuple):
            return
        toss = confirmed_toss(frame, found, said, self._bench.calibration)
        if toss is None:
            screen.print("Kept against the reader; nothing can be learnt from it")
        self._kept.add(frame, toss, said, self._people, datetime.now(UTC))

    def _tossed(self) -> tuple[Frame, Findings]:
        """A toss at rest. What keeps the table from it, somebody mends, and has it try again."""
        while True:
            try:
                return self._bench.toss()
            except HardwareError as error:
                screen.print(error.line(), style="yellow", soft_wrap=True)
                self.mend(error)

    def mend(self, error: HardwareError) -> None:
        """Wait until somebody has seen to it."""
        typer.prompt("Enter tries again, Ctrl-C leaves", "", show_default=False)

    def _looked_again(self, said: Values, shown: Values) -> Said:
        """What the people say once they know that the reader sees something else."""
        screen.print(f"The reader sees {_spaced(shown) or 'no die'}. Look again")
        again = self._asked()
        if not isinstance(again, tuple) or is_alike(again, said) or is_alike(again, shown):
            return again
        screen.print(f"Not kept: first {_spaced(said)}, then {_spaced(again)}")
        return None

    def _asked(self) -> Said:
        """What all persons say: values, that a toss is to be taken back, or None for no toss."""
        while True:
            said = [self.ask(one) for one in self._people]
            if all(is_alike(said[0], other) for other in said[1:]):
                return said[0]
            screen.print("You do not say the same. Look again, each for yourself")

    def ask(self, person: Person) -> Said:
        """One person's word; hidden from the next one, where there are two."""
        while True:
            is_hidden = len(self._people) > 1
            word = typer.prompt(person.name, "", show_default=False, hide_input=is_hidden)
            word = word.replace(" ", "").lower()
            if VALUES.fullmatch(word):
                return tuple(map(int, word))
            if word in ("", NOT_FLAT):
                return None
            if word == BACK:
                return BACK
            screen.print(KEYS, style="dim")


def _spaced(values: Values) -> str:
    return " ".join(map(str, values))


def learnt(
    tosses: Sequence[Toss],
    unseen: int,
    calibration: Calibration,
    bound: Bound,
    people: Sequence[Person],
) -> TaughtTable:
    """Learn, and measure how well the table reads its own tosses: some minutes on a Pi. `unseen`:
    confirmed tosses whose dice the network missed."""
    from vision.taught import Missed, Rate, rate, teach

    with screen.status("learning; then each toss is read by what the others teach …"):
        teaching = teach(calibration, tosses)
        own = rate(calibration, tosses)
    missed = own.missed + Counter({Missed.NOT_FOUND: unseen})
    whole = Rate(own.tosses + unseen, missed)
    return TaughtTable(
        bound, datetime.now(UTC), tuple(people), whole.tosses, whole.read, whole.is_enough,
        whole.advice(), teaching.to_bytes(),
    )  # fmt: skip


def _tell(table: TaughtTable, file: Path) -> None:
    screen.print(table.words(), soft_wrap=True)
    if table.is_enough:
        screen.print(f"written: {file}. Start the service, and inspect the table", soft_wrap=True)
        return
    said = f"written: {file}. It is not enough for automatic entry"
    screen.print(said, style="bold red", soft_wrap=True)
    screen.print(f"change this, then teach anew (--anew): {table.advice}", soft_wrap=True)


def _persons(found: settings.Settings) -> tuple[Person, ...]:
    """Who confirms, by name and passphrase. Raises RefusedError, and SettingsError of the file."""
    people: list[Person] = []
    while len(people) < 1 + found.table.dice_by_two:
        who = "Login name of who confirms" if not people else "Login name of the second person"
        users, name = found.console.users_file, typer.prompt(who)
        roles = [one.role for one in load(users) if one.name == name and isinstance(one.role, Role)]
        person = signed_in(users, name, roles, "with your own login name")
        if any(person.is_same(one) for one in people):
            screen.print("That is the same person: another one confirms, too")
            continue
        people.append(person)
    return tuple(people)
