"""Start to READY of the whole service with years of journal behind it: processor time.

`python -m hil_tests.reliability.large_start FOLDER` starts the service on a virtual rig, first with
no journal and then with the one that `large_journal FOLDER` has made, and takes the processor time
of its process and of the camera's until READY, and the peak memory. After each start the journal is
put back as it was: a table that has run since the first record and lost its power.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from hil_tests.processes import cpu_s, in_status
from hil_tests.table_under_test.session import Plan, Session
from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.adapters.disk.sqlite_journal import SqliteJournal, volume_numbers, volume_path
from shaker_ctl.journal.parameters import JournalParameters
from shaker_ctl.service.status_socket import read_status


@contextmanager
def put_back(parameters: JournalParameters) -> Iterator[None]:
    """Afterwards both copies end as they did before: the open volume is kept, later ones go."""
    paths = [path for path in (parameters.path, parameters.second) if path is not None]
    open_copies(parameters).close()  # what a killed service left is settled
    with tempfile.TemporaryDirectory(dir=parameters.path.parent) as aside:
        newest = {path: volume_numbers(path)[-1] for path in paths}
        for number, path in enumerate(paths):
            shutil.copy(volume_path(path, newest[path]), Path(aside, str(number)))
        try:
            yield
        finally:
            for number, path in enumerate(paths):
                for later in volume_numbers(path):
                    if later >= newest[path]:
                        _take_away(volume_path(path, later))
                shutil.copy(Path(aside, str(number)), volume_path(path, newest[path]))


def _take_away(file: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)


def start_s(session: Session) -> tuple[float, float, float]:
    """Start the service, and end it by SIGKILL; return CPU seconds of the service and of the camera
    process until READY, and the service's peak memory in MB."""
    session.start_service()
    pid = session.service_pid
    assert pid is not None
    service_s = cpu_s(pid)
    camera = read_status(session.runtime_dir)["camera_pid"]
    camera_s = cpu_s(camera) if camera else 0.0
    peak_mb = in_status(pid, "VmHWM") / 1024
    assert session._service is not None
    session._service.kill()
    return service_s, camera_s, peak_mb


def measured(parameters: JournalParameters | None, starts: int) -> Iterator[str]:
    """Start so often; without parameters with no journal."""
    with tempfile.TemporaryDirectory(prefix="shaker-start-") as name:
        changes = {}
        if parameters is not None:
            places = {"path": str(parameters.path), "second": str(parameters.second)}
            changes = {"journal": places}
        session = Session(Plan(seed=5, changes=changes), Path(name))
        found = []
        try:
            session.start_rig()
            session.write_settings()
            for _ in range(starts):
                if parameters is None:
                    for file in Path(name).glob("journal*"):
                        file.unlink()
                    found.append(start_s(session))
                else:
                    with put_back(parameters):
                        found.append(start_s(session))
        finally:
            session.close()
    service, camera, peak = zip(*found, strict=True)
    yield (
        f"service {statistics.median(service):.2f} s ({min(service):.2f} to {max(service):.2f}), "
        f"camera process {statistics.median(camera):.2f} s of CPU until READY, "
        f"service's peak memory {max(peak):.0f} MB; {starts} starts"
    )


def journal_in(folder: Path) -> JournalParameters:
    """Return both copies of what `large_journal` made there. Raises BadParameter without one."""
    parameters = JournalParameters(
        path=folder.resolve() / "journal.sqlite",
        second=folder.resolve() / "second" / "journal.sqlite",
    )
    if not volume_numbers(parameters.path):
        raise typer.BadParameter(f"{folder} holds no journal of `large_journal`")
    return parameters


def main(
    folder: Annotated[Path, typer.Argument(help="Made by `large_journal`.")],
    starts: Annotated[int, typer.Option(min=1, help="Starts with each journal.")] = 5,
) -> None:
    """Measure the service's start with no journal and with a large one."""
    parameters = journal_in(folder)
    for line in measured(None, starts):
        typer.echo(f"no journal: {line}")
    journal = SqliteJournal(parameters.path, read_only=True)
    head, volumes = journal.head().sequence, journal.volume
    journal.close()
    for line in measured(parameters, starts):
        typer.echo(f"{head} records in {volumes} volumes: {line}")


if __name__ == "__main__":
    typer.run(main)
