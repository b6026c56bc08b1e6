"""Disputes of rounds, opened and settled beside their pictures."""

from __future__ import annotations

from contextlib import closing, suppress
from datetime import UTC, datetime
from typing import Annotated

import typer

from shaker_ctl.adapters.disk.dispute_list import Dispute, DisputeList, known
from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.commands.journal.book import Config, Journal, opened, screen
from shaker_ctl.commands.service_user import become_owner_of
from shaker_ctl.errors import RefusedError


def dispute(
    number: Annotated[int, typer.Argument(metavar="ROUND", help="Number of the round.", min=1)],
    by: Annotated[str, typer.Option(help="Who opens or settles the dispute.")],
    reason: Annotated[str, typer.Option(help="What is disputed, or how it was settled.")],
    settled: Annotated[bool, typer.Option("--settled", help="The dispute is over.")] = False,
    config: Config = DEFAULT_CONFIG,
    journal: Journal = None,
) -> None:
    """Keep a round's pictures until its dispute is settled, whatever their quota says.

    Works while the table plays. The act is kept beside the pictures, in disputes.jsonl, and the
    journal remembers how that list stands.
    """
    from shaker_ctl import sealed_start

    with opened(config, journal) as book:
        is_known = bool(book.store.read_round(number))
        remembered = known(book.store.milestones())
    become_owner_of(book.parameters.path.parent)
    disputes = DisputeList(book.parameters.pictures, remembered)
    before = disputes.listed()
    if not settled and not is_known:
        raise book.unknown_round(number)
    if settled and number not in before.open:
        raise RefusedError(
            f"no dispute is open on round {number}", remedy=f"Open are: {before.words()}"
        )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    disputes.add(Dispute(number, not settled, by, reason, now))
    screen.print(f"open disputes: {disputes.listed().words()}")
    if journal is None:  # and not somebody's copy, which may be evidence
        with suppress(RefusedError), closing(open_copies(book.parameters)) as copies:
            # Refused while the service writes: then it puts this on record itself.
            if (grown := disputes.grown()) is not None:
                sealed_start.write(copies, grown.entry())
