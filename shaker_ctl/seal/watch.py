"""The seal while the table runs: examined again and again, in a process beside the play.

Owns when files are examined: at the beginning of every inspection, in the background, and before a
process of the table loads its files anew. This module is also the program that examines:
`python -P -m shaker_ctl.seal.watch SETTINGS`.
Must not know what a finding leads to.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from shaker_ctl import child_process
from shaker_ctl.errors import RefusedError, SealError
from shaker_ctl.seal import manifest
from shaker_ctl.seal.examine import Examined, examine
from shaker_ctl.seal.manifest import Manifest, SealFinding
from shaker_ctl.seal.place import beside

log = logging.getLogger(__name__)

EVERY_S = 1800.0
"""Between two examinations in the background."""

AGAIN_AFTER_S = 30.0
"""After one that ended without an answer."""

MAX_EXAMINATION_S = 900.0
"""A process that takes longer hangs, and is ended."""

LOADED_WITHIN_S = 20.0
"""Longest examination of what a process loads anew."""

REST_SHARE = 3.0
"""The background process rests so many times as long as it worked: a quarter of a processor."""

LOADED = "--loaded"


class SealWatch:
    """One examination at a time. `look` regularly from one thread; `check_loaded` from any."""

    def __init__(self, sealed: Examined, settings: Path) -> None:
        """`sealed`: what the start found. A table that is not sealed has nothing to watch."""
        self._settings = settings
        self._key = sealed.seal
        self._is_sealed = sealed.is_sealed
        self._process: subprocess.Popen[bytes] | None = None
        self._began_s = time.monotonic()
        self._verified_s = self._began_s
        """When the newest examination began that found every file as sealed: at first the start."""
        self._asked_s = self._began_s
        self._due_s = self._began_s + EVERY_S
        self.findings: tuple[SealFinding, ...] = ()
        """What was found broken; it stays."""

    def ask(self) -> None:
        """Have everything examined anew, from now."""
        self._asked_s = self._due_s = time.monotonic()

    def look(self) -> None:
        """Take what the process found; start it where it is due. Called regularly."""
        if not self._is_sealed:
            return
        now_s = time.monotonic()
        if self._process is None:
            if now_s >= self._due_s:
                self._begin(now_s)
        elif self._process.poll() is not None:
            self._take(now_s)
        elif now_s - self._began_s > MAX_EXAMINATION_S:
            self.stop()
            self._due_s = now_s + AGAIN_AFTER_S

    def require_verified(self) -> None:
        """Raises RefusedError until all was examined since `ask`: the table is not opened."""
        if self._is_sealed and self._verified_s < self._asked_s:
            raise RefusedError(
                "the sealed files are being examined", remedy="Wait some seconds, and open then"
            )

    def check_loaded(self) -> None:
        """Examine what a process of the table is about to load anew. Blocks for seconds.

        Raises SealError where a file differs, or nobody can say.
        """
        if not self._is_sealed:
            return
        try:
            ran = subprocess.run(
                [*self._words(), LOADED],
                env=child_process.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                timeout=LOADED_WITHIN_S,
                check=True,
            )
            found = _understood(ran.stdout)
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            raise SealError(f"the seal cannot be examined: {error}") from error
        if found:
            self.findings = self.findings or found
            raise SealError(f"the seal is broken: {found[0].line()}")

    def stop(self) -> None:
        """End the process, if one runs."""
        process, self._process = self._process, None
        if process is not None:
            child_process.end(process)

    def _begin(self, now_s: float) -> None:
        self._began_s, self._due_s = now_s, now_s + EVERY_S
        try:
            self._process = subprocess.Popen(
                self._words(),
                env=child_process.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                process_group=0,  # Ctrl-C at the terminal is the service's to handle
            )
        except OSError as error:
            log.warning("the seal cannot be examined: %s", error)
            self._due_s = now_s + AGAIN_AFTER_S

    def _take(self, now_s: float) -> None:
        process, self._process = self._process, None
        assert process is not None
        said, _ = process.communicate()
        try:
            found = _understood(said)
        except ValueError:
            log.warning("the examination of the seal ended with status %s", process.returncode)
            self._due_s = now_s + AGAIN_AFTER_S
            return
        self.findings = self.findings or found
        if not found:
            self._verified_s = self._began_s

    def _words(self) -> list[str]:
        return [sys.executable, "-P", "-m", __name__, str(self._settings), self._key]


def _understood(said: bytes) -> tuple[SealFinding, ...]:
    """Return what the process found. Raises ValueError where it did not come to an end."""
    try:
        return tuple(SealFinding(str(file), str(what)) for file, what in json.loads(said))
    except (ValueError, TypeError) as error:
        raise ValueError(f"no answer: {said[:80]!r}") from error


# ── The process ─────────────────────────────────────────────────────────────


class _Rest:
    """Keeps the process out of the way of the one that plays."""

    def __init__(self) -> None:
        with contextlib.suppress(OSError):
            os.nice(19)
        self._began_s = time.monotonic()

    def __call__(self) -> None:
        worked_s = time.monotonic() - self._began_s
        if worked_s > 0.02:
            time.sleep(min(1.0, REST_SHARE * worked_s))
            self._began_s = time.monotonic()


def _loaded_only(sealed: Manifest, _settings: Path, root: Path) -> list[SealFinding]:
    return manifest.loaded_anew(sealed, root)


def main(words: list[str]) -> None:
    """Print what differs, as a JSON list of (file, what). `words`: settings, key, `LOADED`."""
    place = beside(Path(words[0]))
    if LOADED in words:
        found = examine(place, differences=_loaded_only)
    else:
        found = examine(place, differences=partial(manifest.differences, rest=_Rest()))
    findings = list(found.findings)
    if found.seal != words[1]:
        what = f"is another key ({found.seal}) than at the start ({words[1]})"
        findings.append(SealFinding(str(place.public_key), what))
    print(json.dumps([(one.file, one.what) for one in findings]))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
