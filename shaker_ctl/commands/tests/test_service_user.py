"""What root does to the table's files is done as whoever owns them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.journal.parameters import JournalParameters

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")

OWNER = 65534
"""`nobody`: a user that every computer has, in the place of the service's."""


def test_a_rebuild_by_root_leaves_files_that_the_service_can_write() -> None:
    # A folder that others may enter, unlike pytest's.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "stick").mkdir()
        parameters = JournalParameters(
            path=folder / "journal.jsonl", second=folder / "stick" / "journal.jsonl"
        )
        open_copies(parameters).close()
        for path in (folder, *folder.rglob("*")):
            os.chown(path, OWNER, OWNER)
        assert parameters.second is not None
        parameters.second.unlink()
        settings = folder / "settings.toml"
        settings.write_text(
            f'[journal]\npath = "{parameters.path}"\nsecond = "{parameters.second}"\n'
        )
        done = subprocess.run(
            [
                *(sys.executable, "-c", "from shaker_ctl.main import app; app()"),
                *("journal", "rebuild", "--second", "--yes", "--config", str(settings)),
            ],
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[3],
            check=False,
        )
        assert done.returncode == 0, done.stderr
        made = {path for path in folder.rglob("*") if path.is_file() and path != settings}
        assert {path.stat().st_uid for path in made} == {OWNER}
