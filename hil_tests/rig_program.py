"""`shaker-rig` as it is installed: the rig, and the files of a table that is put on it.

Owns what a running rig's folder holds for `shaker-ctl run`: settings with the rig's addresses and
the time that simulated lines need, people to log in as, and a measured camera. The rig itself knows
no table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tomlkit

from hil_tests.processes import BenchError
from hil_tests.rig import main
from hil_tests.table_under_test.session import EASY_WORD, Plan, Session

app = main.app


def table_files(addresses: dict[str, Any]) -> list[str]:
    """Write the files where they are not there; return how a table is run with them, in lines."""
    folder = Path(addresses["truth"]).parent
    settings = folder / "settings.toml"
    is_new = not settings.exists()
    try:
        if is_new:
            Session(Plan(by_hand=True), folder, rig=addresses).write_settings()
        else:
            _give_addresses(settings, addresses)
    except (BenchError, OSError, KeyError, ValueError) as error:
        if is_new:
            settings.unlink(missing_ok=True)
        return [f"table       no settings: {error}"]
    return [
        f"table       shaker-ctl run --config {settings}",
        f"people      fay (floorperson), dan (dealer), tom (technician), sue (supervisor); "
        f"passphrase {EASY_WORD}",
        f"console     shaker-ctl console --port {addresses['console']['dealer']['person']}",
    ]


def _give_addresses(settings: Path, addresses: dict[str, Any]) -> None:
    """Put the addresses of this run into settings of an earlier one; the rest is the person's."""
    document: Any = tomlkit.parse(settings.read_text("utf-8"))
    document["gpio"] |= addresses["pigpiod"]
    document["camera"]["device"] = addresses["camera"]["url"]
    settings.write_text(tomlkit.dumps(document), "utf-8")


main.on_start.append(table_files)
