"""The records process as the service has it: started, started again, ended, and what it found.

Owns the two questions that the table asks of it: is every closed volume verified, so that it may be
opened, and is one broken, so that it must halt. Must not verify anything itself.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime

from shaker_ctl import child_process
from shaker_ctl.adapters.disk import volume_proofs
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.errors import JournalCorruptError, RefusedError
from shaker_ctl.journal.proofs import Break, Mark, Proofs
from shaker_ctl.journal.recovery import FETCH

log = logging.getLogger(__name__)

AGAIN_AFTER_S = 30.0
"""Between two starts of a process that ends by itself."""

WORDED_FOR_S = 10.0
"""How long words for screens hold: hundreds of files are looked at for them."""


class RecordsWatch:
    """One records process. `start` and `stop` once; everything else from any thread."""

    def __init__(self, copies: list[DiskJournal]) -> None:
        """`copies`: both, as the service has them open."""
        self._copies = copies
        self._kept = volume_proofs.place(copies[0].path)
        self._process: subprocess.Popen[bytes] | None = None
        self._is_wanted = False
        self._started_s = 0.0
        self._seen: Mark = ()
        self._proofs = Proofs()
        self._worded: tuple[float, tuple[object, ...], str] = (0.0, (), "")

    def start(self) -> None:
        """Start the process; it ends with this one. Where it does not start, `look` tries again."""
        self._is_wanted, self._started_s = True, time.monotonic()
        try:
            self._start()
        except OSError as error:
            log.warning("the records process does not start: %s", error)

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "shaker_ctl.adapters.disk.records_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env=child_process.environment(),
            process_group=0,  # Ctrl-C at the terminal is the service's to handle
        )
        assert self._process.stdin is not None
        paths = [str(copy.path) for copy in self._copies]
        self._process.stdin.write(json.dumps(paths).encode() + b"\n")
        self._process.stdin.flush()

    def stop(self) -> None:
        """End the process."""
        self._is_wanted = False
        process, self._process = self._process, None
        if process is not None:
            child_process.end(process)

    def look(self) -> None:
        """Start the process again where it has ended. Call regularly."""
        process = self._process
        if not self._is_wanted or (process is not None and process.poll() is None):
            return
        if time.monotonic() - self._started_s > AGAIN_AFTER_S:
            if process is not None:
                log.warning("the records process ended with status %s", process.returncode)
            self.stop()
            self.start()

    def proofs(self) -> Proofs:
        """Return what is known now; the file is read where it has changed."""
        mark = volume_proofs.mark_of(self._kept)
        if mark != self._seen:
            self._proofs, self._seen = volume_proofs.load(self._kept), mark
        return self._proofs

    def broken(self) -> Break | None:
        """Return the volume that does not verify, if one was found."""
        return self.proofs().broken

    def refuse_a_broken_one(self) -> None:
        """Look again at a volume that was found broken before this start.

        Raises JournalCorruptError while it is. A person may have put a whole one in its place.
        """
        proofs = self.proofs()
        if proofs.broken is None:
            return
        for one in volume_proofs.volumes(self._copies):
            if str(one.path) == proofs.broken.file:
                proofs = volume_proofs.prove(one, proofs, time.time)
                break
        else:  # a copy that this table has no more; its new place has no proofs and is verified
            proofs = replace(proofs, broken=None)
        volume_proofs.save(self._kept, proofs)
        if proofs.broken is not None:
            raise JournalCorruptError(proofs.broken.line, remedy=FETCH)

    def require_proved(self) -> None:
        """Raises RefusedError while a closed volume is not verified: the table is not opened."""
        missing = len(volume_proofs.unproved(self._copies, self.proofs(), time.time()))
        if missing:
            raise RefusedError(
                f"{missing} volumes of the journal are not yet verified",
                remedy="Wait: it is being done, `status` shows how far it is. If the number does "
                "not fall: journalctl -u shaker-ctl, a line that begins with `records:`",
            )

    def words(self) -> str:
        """How far the verifying is, and how old its oldest result, for screens. Cheap."""
        now_s = time.monotonic()
        known = (self._copies[0].volume, volume_proofs.mark_of(self._kept))
        until_s, known_then, said = self._worded
        if now_s > until_s or known != known_then:
            said = self._words()
            self._worded = (now_s + WORDED_FOR_S, known, said)
        return said

    def _words(self) -> str:
        proofs = self.proofs()
        if proofs.broken is not None:
            return f"broken: {proofs.broken.line}"
        of = sum(len(copy.present) for copy in self._copies)
        if not of:
            return "no closed volume"
        now_s = time.time()
        missing = len(volume_proofs.unproved(self._copies, proofs, now_s))
        if missing:
            return f"verifying: {of - missing} of {of} closed volumes"
        oldest_s = min(
            proofs.of[str(one.path)].wall_s for one in volume_proofs.volumes(self._copies)
        )
        when = datetime.fromtimestamp(oldest_s, UTC).isoformat(" ", "minutes")[:16]
        return f"{of} closed volumes verified, the oldest {when} UTC"
