"""Disputes of rounds, opened and settled beside their pictures."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from shaker_ctl.adapters.disk.dispute_list import Dispute, DisputeList
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

    Works while the table plays. The act is kept beside the pictures, in disputes.jsonl.
    """
    with opened(config, journal) as book:
        is_known = bool(book.store.read_round(number))
    become_owner_of(book.parameters.path.parent)
    disputes = DisputeList(book.parameters.pictures)
    if not settled and not is_known:
        raise book.unknown_round(number)
    if settled and number not in disputes.open_rounds():
        raise RefusedError(
            f"no dispute is open on round {number}",
            remedy=f"Open are: {', '.join(map(str, sorted(disputes.open_rounds()))) or 'none'}",
        )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    disputes.add(Dispute(number, not settled, by, reason, now))
    still = ", ".join(map(str, sorted(disputes.open_rounds()))) or "none"
    screen.print(f"open disputes: {still}")
