"""`shaker-ctl page`: the page for browsers, a process of its own beside the table."""

from __future__ import annotations

import gc
import logging
from pathlib import Path
from typing import Annotated

import typer

from shaker_ctl import settings
from shaker_ctl.adapters.camera import allocator
from shaker_ctl.adapters.sd_notify import SdNotifier
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.errors import RefusedError, SettingsError
from shaker_ctl.installation import real_table
from shaker_ctl.installation.places import shipped


def page(
    config: Annotated[
        Path, typer.Option(help="Settings file of the table; its section `page` is this one's.")
    ] = DEFAULT_CONFIG,
) -> None:
    """Serve the page of a table until SIGTERM or Ctrl-C: what it sees, does and did.

    Follows the table's status and journal by reading, and can do nothing to the table. Where no
    table runs, it shows what the journal tells. Prints its address when it is ready.
    """
    allocator.return_large_blocks()
    found = settings.load(config)
    if not found.page.login and (mark := real_table.mark()) is not None:
        raise RefusedError(
            f"page.login is off, and {mark} says that this is a real table",
            remedy="Set page.login = true: people log in as at the consoles",
        )
    try:
        from shaker_ctl.page import server
        from shaker_ctl.page.app import Page
        from shaker_ctl.page.places import TablePlaces
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"the page's libraries are not installed ({error.name} is missing)",
            remedy="Install them: pip install 'shaker-ctl[page]'",
        ) from error
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    server.require_certificate(found.page)
    listener = server.listen(found.page)
    with listener:
        places = TablePlaces(
            name=found.service.table_name,
            profile=found.table.profile,
            runtime_dir=found.service.runtime_dir,
            journal=found.journal,
            users_file=found.console.users_file,
            settings=config,
            documents=shipped(),
        )
        made = Page(found.page, places, found.sign)
        notifier = SdNotifier()

        def ready() -> None:
            notifier.ready()
            typer.echo(f"page: {server.address_of(found.page, listener)}")

        gc.collect()
        gc.freeze()
        server.serve(made.app, found.page, listener, ready, made.end_streams)
