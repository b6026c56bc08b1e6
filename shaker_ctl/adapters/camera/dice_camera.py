"""The camera as the service sees it: requests in, messages out, and a process that may die.

Owns: the camera process (start, heartbeat, kill, restart) and the promise that every `read` is
answered by exactly one `ReadingDone`. Must not know OpenCV, onnxruntime, or what a reading is
used for.

The process is started as `python -m shaker_ctl.adapters.camera.process` and not through
`multiprocessing`: its spawn method would import the service's own main module into the child and
start a resource tracker beside it, 60 MB that a camera does not need. The link is still a
`multiprocessing` connection, over a socket pair.

A hung camera driver cannot be interrupted from inside its process. So nothing here waits for it:
a process that has not said anything for `answer_timeout_s` is killed, the fault is reported, and
a new one gets what the old one was doing, the poses before the toss included.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import IO

from shaker_ctl import child_process
from shaker_ctl.errors import CameraError, SealError
from shaker_ctl.plain_form import PlainFormError
from shaker_ctl.reading import messages
from shaker_ctl.reading.parameters import CameraParameters
from shaker_ctl.reading.wire import receive, send
from shaker_ctl.rules.vocabulary import Occasion
from vision.reading import Reason, Unreadable

log = logging.getLogger(__name__)

_TURN_S = 0.1
_PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR", "TZ")
"""Variables of the service's environment that the process gets; none of them names code."""

_RESTART_WAITS_S = (0.1, 0.5, 1.0, 2.0, 5.0)
_READ_GRACE_S = 0.5
"""On top of the process's own deadlines, before a read is answered without it."""
_STEADY_S = 30.0
"""A process that lived this long is restarted without waiting."""

NEVER_RESTARTED = frozenset({"model"})
"""Faults that a restart cannot mend: a person restores the files."""


SEAL_REMEDY = "the table halts after the round: shaker-ctl seal check names every file"


class DiceCamera:
    """The camera process, supervised. All methods are thread-safe and none of them blocks,
    except `wait_ready` and `snap`, which have deadlines."""

    def __init__(
        self,
        parameters: CameraParameters,
        listener: Callable[[messages.Message], None],
        *,
        check_files: Callable[[], None] = lambda: None,
        taught: bytes = b"",
    ) -> None:
        """Prepare; `start` starts. `listener` is called from the adapter's own thread, must not
        block and must not raise. `check_files` is called before a process is started again; where
        it raises SealError, none is. `taught`: what the table was taught."""
        self._parameters = parameters
        self._taught = taught
        self._hear = listener
        self._check_files = check_files
        self._lock = threading.Lock()
        self._link: Connection | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None
        self._thread: threading.Thread | None = None
        self._may_open = threading.Event()
        self._is_stopping = threading.Event()
        self._is_ready = threading.Event()
        self._faults: dict[str, messages.CameraFault] = {}
        self._health: messages.CameraHealth | None = None
        self.is_blind = False
        self._before: tuple[Occasion, tuple[messages.DiePose, ...] | None] | None = None
        self._reading: Occasion | None = None
        self._read_deadline = float("inf")
        self._pictures: dict[int, bytes | None] = {}
        self._picture_came = threading.Condition(self._lock)
        self._request_ids = itertools.count(1)

    # ── What the service asks ───────────────────────────────────────────────

    def load(self) -> None:
        """Have the process load its libraries, and open nothing before `start`; return at once."""
        if self._thread is not None:
            raise CameraError("the camera is already started")
        self._thread = threading.Thread(target=self._supervise, name="camera", daemon=True)
        self._thread.start()

    def start(self) -> None:
        """Open the camera and return at once; `CameraReady` follows."""
        if self._may_open.is_set():
            raise CameraError("the camera is already started")
        if self._thread is None:
            self.load()
        self._may_open.set()

    def wait_ready(self, timeout_s: float | None = None) -> None:
        """Wait until the process is ready. Raises CameraError with the fault and its remedy."""
        limit_s = self._parameters.start_timeout_s if timeout_s is None else timeout_s
        deadline = time.monotonic() + limit_s
        while not self._is_ready.wait(0.02):
            fault = self.fault
            if fault is not None and fault.code in NEVER_RESTARTED | {"camera-open"}:
                raise CameraError(fault.text, remedy=fault.remedy)
            if time.monotonic() > deadline:
                text = fault.text if fault else f"the camera is not ready after {limit_s:g} s"
                raise CameraError(
                    text,
                    remedy=(fault.remedy if fault else "")
                    or f"check the camera {self._parameters.device!r}",
                )

    def begin_toss(self, occasion: Occasion) -> None:
        """Keep how the dice lie now; call before the motor starts."""
        with self._lock:
            self._before = (occasion, None)
        self._send(messages.BeginToss(occasion))

    def settle(self, occasion: Occasion) -> None:
        """The motor was switched off; `read` follows once the toss is proved."""
        self._send(messages.SettleDice(occasion))

    def read(self, occasion: Occasion) -> None:
        """Wait for rest and read. Answered by `Rested` and then one `ReadingDone`."""
        with self._lock:
            self._reading = occasion
            self._read_deadline = self._new_read_deadline()
        self._send(messages.ReadDice(occasion))

    def light_dipped(self, occasion: Occasion, t_set: float) -> None:
        """The light has the level that `DipLight` asked for, since `t_set` (monotonic)."""
        self._send(messages.LightDipped(occasion, t_set))

    def end_reading(self) -> None:
        """The reading in hand is not needed any more; no `ReadingDone` will come."""
        with self._lock:
            occasion, self._reading = self._reading, None
        if occasion is not None:
            self._send(messages.EndReading(occasion))

    def blind(self, is_blind: bool) -> None:
        """While blind no frame is decoded, kept or sent."""
        with self._lock:
            self.is_blind = is_blind
        self._send(messages.Blind(is_blind))

    def snap(self, timeout_s: float = 1.0) -> bytes:
        """The newest frame as a JPEG; empty while blind. Raises CameraError at the deadline."""
        request_id = next(self._request_ids)
        with self._picture_came:
            self._pictures[request_id] = None
        self._send(messages.TakePicture(request_id))
        with self._picture_came:
            self._picture_came.wait_for(lambda: self._pictures[request_id] is not None, timeout_s)
            jpeg = self._pictures.pop(request_id)
        if jpeg is None:
            raise CameraError(
                f"the camera gave no picture within {timeout_s:g} s",
                remedy="see `shaker-ctl status` for the camera's fault",
            )
        return jpeg

    @property
    def health(self) -> messages.CameraHealth | None:
        """The last heartbeat; None before the first."""
        return self._health

    @property
    def fault(self) -> messages.CameraFault | None:
        """The fault that stands, if any."""
        return next(reversed(self.faults.values()), None)

    @property
    def faults(self) -> dict[str, messages.CameraFault]:
        """Every fault that stands by its code, oldest first."""
        return dict(self._faults)

    @property
    def is_ready(self) -> bool:
        return self._is_ready.is_set()

    @property
    def pid(self) -> int | None:
        """Process id of the camera process, while it runs."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def stop(self) -> None:
        """End the process and the thread; at most about a second. Idempotent."""
        self._is_stopping.set()
        self._may_open.set()
        self._send(messages.StopCamera())
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=3.0)
            self._thread = None

    # ── The supervisor's thread ─────────────────────────────────────────────

    def _supervise(self) -> None:
        failures = 0
        while not self._is_stopping.is_set():
            self._launch()
            self._may_open.wait()
            if self._is_stopping.is_set():
                self._reap()
                break
            self._send(self._parameters.setup(self._taught))
            started = time.monotonic()
            fault = self._attend(started)
            self._reap()
            if fault is None or self._is_stopping.is_set():
                break
            self._report(fault)
            if fault.code in NEVER_RESTARTED:
                self._answer_reads_until_stopped()
                break
            failures = 0 if time.monotonic() - started > _STEADY_S else failures + 1
            wait_s = _RESTART_WAITS_S[min(failures, len(_RESTART_WAITS_S) - 1)]
            self._answer_overdue_read()
            self._is_stopping.wait(wait_s)
            try:
                self._check_files()
            except SealError as error:
                self._report(messages.CameraFault(error.code, str(error), SEAL_REMEDY))
                self._answer_reads_until_stopped()
                break

    def _launch(self) -> None:
        ours, theirs = socket.socketpair()
        environment = child_process.environment()
        environment |= {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        # One thread each: a camera process must not compete with the motion loop for cores.
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            environment[name] = "1"
        environment["OPENCV_FFMPEG_LOGLEVEL"] = "-8"  # its complaints become our named faults
        environment["OPENCV_LOG_LEVEL"] = "SILENT"
        # Seconds that OpenCV waits for a V4L2 frame, read when it is loaded; without it, 10.
        environment["OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT"] = "1"
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed in _reap
        with theirs:
            process = subprocess.Popen(
                [
                    # -P: no module is taken from the working folder.
                    *(sys.executable, "-P", "-m", "shaker_ctl.adapters.camera.process"),
                    str(theirs.fileno()),
                ],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                env=environment,
                # Ctrl-C at the terminal is the service's to handle. No session of its own: the
                # kernel may weigh sessions against each other, and this one has the priority.
                process_group=0,
            )
        link = Connection(ours.detach())
        with self._lock:
            self._process, self._link = process, link

    def _attend(self, started: float) -> messages.CameraFault | None:
        """Pass messages on until the process ends or falls silent; return why, or None at stop."""
        link, process = self._link, self._process
        assert link is not None
        assert process is not None
        heard = started
        last: messages.CameraFault | None = None
        while True:
            try:
                message: messages.Message | None = receive(link) if link.poll(_TURN_S) else None
            except (EOFError, OSError):
                return self._obituary(process, last)
            except PlainFormError as error:
                return messages.CameraFault(
                    "camera-process",
                    f"the camera process said what is no message ({error}) and was killed",
                    "it is started again; if this repeats, keep the log and call the maker",
                )
            now = time.monotonic()
            if message is not None:
                heard = now
                if isinstance(message, messages.CameraFault):
                    last = message
                self._take(message)
            elif self._is_stopping.is_set() and now - heard > 1.0:
                return None
            silence_s = now - heard
            limit_s = (
                self._parameters.answer_timeout_s
                if self._is_ready.is_set()
                else self._parameters.start_timeout_s
            )
            if silence_s > limit_s:
                return messages.CameraFault(
                    "camera-process",
                    f"the camera process was silent for {silence_s:.1f} s and was killed",
                    "it is started again; if this repeats, check the camera's cable and driver",
                )
            self._answer_overdue_read()

    def _obituary(
        self, process: subprocess.Popen[bytes], last: messages.CameraFault | None
    ) -> messages.CameraFault | None:
        if self._is_stopping.is_set():
            return None
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
        if last is not None and last.code in NEVER_RESTARTED:
            return last
        words = ""
        if self._stderr is not None:
            self._stderr.seek(0)
            lines = self._stderr.read()[-2000:].decode(errors="replace").strip().splitlines()
            words = f": {lines[-1]}" if lines else ""
        if process.returncode == -signal.SIGILL:
            words += ": this processor lacks an instruction of its libraries, and is not supported"
        return messages.CameraFault(
            "camera-process",
            f"the camera process ended with status {process.returncode}{words}",
            "it is started again; if this repeats, see the system's log",
        )

    def _reap(self) -> None:
        self._is_ready.clear()
        with self._lock:
            process, link, self._process, self._link = self._process, self._link, None, None
        if link is not None:
            link.close()
        if process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.3 if self._is_stopping.is_set() else 0.0)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # and the program of a CSI camera
            process.wait()
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None

    def _take(self, message: messages.Message) -> None:
        match message:
            case messages.CameraReady():
                self._is_ready.set()
                self._resume()
                ended, self._faults = self._faults, {}
                for code in ended:  # a new process says anew what is wrong
                    self._tell(messages.CameraRecovered(code))
            case messages.CameraHealth():
                self._health = message
            case messages.CameraFault():
                self._report(message)
                return
            case messages.CameraRecovered():
                self._faults.pop(message.code, None)
            case messages.TossWatched():
                with self._lock:
                    if self._before is not None and self._before[0] == message.occasion:
                        self._before = (message.occasion, message.before)
            case messages.ReadingDone():
                with self._lock:
                    if self._reading != message.occasion:
                        return  # answered already, or no longer wanted
                    self._reading = None
            case messages.Picture():
                with self._picture_came:
                    if message.request_id in self._pictures:  # somebody still waits for it
                        self._pictures[message.request_id] = message.jpeg
                        self._picture_came.notify_all()
                return
            case _:
                pass
        self._tell(message)

    def _resume(self) -> None:
        """Give a new process what the old one was doing."""
        with self._lock:
            is_blind, before, reading = self.is_blind, self._before, self._reading
        if is_blind:
            self._send(messages.Blind(True))
        if before is not None and before[1] is not None:
            self._send(messages.BeginToss(before[0], before[1]))
        if reading is not None:
            with self._lock:
                self._read_deadline = self._new_read_deadline()
            self._send(messages.ReadDice(reading))

    def _new_read_deadline(self) -> float:
        p = self._parameters
        return time.monotonic() + p.rest_timeout_s + p.read_timeout_s + _READ_GRACE_S

    def _answer_overdue_read(self) -> None:
        with self._lock:
            occasion = self._reading
            now = time.monotonic()
            if occasion is None or now < self._read_deadline:
                return
            self._reading = None
        fault = self.fault
        text = fault.text if fault else "the camera process did not answer in time"
        self._send(messages.EndReading(occasion))
        self._tell(
            messages.ReadingDone(
                occasion=occasion,
                verdict=Unreadable(Reason.NO_FRAMES, text),
                t_rest=None,
                t_dip_seen=None,
                t_capture=None,
                t_verdict=now,
                jpeg=b"",
                overlay_jpeg=b"",
                frames=(),
                frames_looked_at=0,
            )
        )

    def _answer_reads_until_stopped(self) -> None:
        while not self._is_stopping.wait(_TURN_S):
            self._answer_overdue_read()

    def _tell(self, message: messages.Message) -> None:
        """A listener that fails must not end the supervision: nobody would ever read again."""
        try:
            self._hear(message)
        except Exception:
            log.exception("%s was not taken", type(message).__name__)

    def _report(self, fault: messages.CameraFault) -> None:
        self._faults[fault.code] = fault
        self._tell(fault)

    def _send(self, request: messages.Request | messages.CameraSetup) -> None:
        with self._lock:
            if self._link is None:
                return  # said again by _resume when the next process is ready
            # The supervisor notices a dead peer by itself.
            with contextlib.suppress(OSError, ValueError):
                send(self._link, request)
