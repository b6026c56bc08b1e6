"""What was recorded, decided and read again by today's rules and today's reader."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shaker_ctl import settings as settings_file
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.commands.journal.book import AsJson, CheckedJournal, Config, Journal, opened, screen
from shaker_ctl.commands.journal.rounds import worded
from shaker_ctl.errors import RefusedError
from shaker_ctl.rules.parameters import TableParameters
from shaker_ctl.service.last_end import OPENING

if TYPE_CHECKING:
    from shaker_ctl.rules.rulebook import Rulebook


def replay(
    pictures: Annotated[bool, typer.Option(help="Read the stored frames again as well.")] = True,
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
    as_json: AsJson = False,
) -> None:
    """Decide every recorded event again by today's rules, and read every stored frame again.

    Lists what would differ. A journal given with --journal brings its own settings of play, where
    --config names none. If volumes were removed, it begins behind the first record after them that
    carries a state; `shaker-ctl journal fetch FOLDER` brings them back from their archive.

    A verdict rests on several frames, of which one is stored: frames of verdicts that gave a value
    or a no roll are compared, those of an unreadable toss are only read and counted. Ends with
    status 1 where anything differs.
    """
    from shaker_ctl.journal.replay import replay as decided_again
    from shaker_ctl.rules import machine
    from shaker_ctl.rules.record import to_record
    from shaker_ctl.rules.rulebook import rulebook

    has_settings = journal is None or config.exists()
    with opened(config, journal) as book:
        rules = rulebook(settings_file.load(config).table if has_settings else _as_played(book))
        begins = to_record(machine.initial(rules)) if book.first == 1 else None
        found = decided_again(book.kept(), _decide(rules), begins)
        frames, refused = 0, ""
        if pictures and not has_settings:
            refused = "; no frame was read again: that takes the settings' calibration (--config)"
        elif pictures:
            from shaker_ctl.commands.reread import reread

            again = reread(book.all(first=book.first), book.parameters.pictures, config)
            found.differences += again.differences
            frames = again.frames
            if again.refused:
                refused = (
                    f"; {again.refused} frames of unreadable tosses, "
                    f"{again.refused_but_readable} of which today's reader reads alone"
                )
        if as_json:
            typer.echo(json.dumps([asdict(each) for each in found.differences], indent=2))
        else:
            for difference in found.differences:
                screen.print(
                    f"record {difference.sequence}, round {difference.round}: {difference.what}\n"
                    f"  then {_told(difference.then)}\n  now  {_told(difference.now)}",
                    soft_wrap=True,
                )
            screen.print(
                f"{found.steps} decisions in {len(found.rounds)} rounds and {frames} frames, "
                f"{len(found.differences)} differences{refused}"
            )
    if found.differences:
        raise typer.Exit(1)


def _as_played(book: CheckedJournal) -> TableParameters:
    """The section [table] of the settings that a journal's last run was played with."""
    openings = [
        r.plain for r in book.all(first=book.first) if b'"kind":"%s"' % OPENING.encode() in r.body
    ]
    for plain in reversed(openings):
        if "rules" in plain:
            return TableParameters.model_validate(plain["rules"])
    raise RefusedError(
        f"{book.store.path} does not say by which settings it was played",
        remedy="Give them with --config",
    )


def _decide(rules: Rulebook) -> Any:
    from shaker_ctl.journal.replay import Decided
    from shaker_ctl.rules import machine
    from shaker_ctl.rules.events import Event
    from shaker_ctl.rules.record import from_record, to_record
    from shaker_ctl.rules.state import TableState

    def decide(state: Any, event: Any) -> Decided:
        step = machine.step(from_record(state, TableState), from_record(event, Event), rules)
        return Decided(
            rows=[row.name for row in step.rows],
            decision=[to_record(command) for command in step.commands],
            state=to_record(step.state),
        )

    return decide


def _told(plain: Any) -> str:
    if isinstance(plain, list):
        return "; ".join(worded(item) if isinstance(item, dict) else str(item) for item in plain)
    return worded(plain) if isinstance(plain, dict) else str(plain)
