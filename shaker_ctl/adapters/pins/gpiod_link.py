"""The way to the pins of a Raspberry Pi 5: the kernel's GPIO device, and the dead-man's process.

Owns opening both, the thread that keeps an eye on the dead-man and opens it again, and the thread
that takes edges off the kernel. Where a lost dead-man leaves EN, this takes it low: duty to zero,
what is left of the process killed, and the line held low from here until a new dead-man holds it.
Must not know of speed, contacts or rounds.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import gpiod
from gpiod.line import Direction, Value

from shaker_ctl.adapters.pins import gpiod_dead_man
from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from shaker_ctl.adapters.pins.gpiod_dead_man import ANSWER, ASK, GRANT, ORDER, REVOKE
from shaker_ctl.adapters.pins.sysfs_pwm import SysfsPwm, find_chip
from shaker_ctl.errors import GpioLinkError

log = logging.getLogger(__name__)

T = TypeVar("T")

LABEL = "pinctrl-rp1"
"""What the chip of the header's pins calls itself on a Raspberry Pi 5."""

MAX_CHIPS = 16
BEAT_S = 0.2
REOPEN_S = 0.5
START_S = 5.0
"""Longest start of the dead-man: a Python with one module, from a cold card."""

EVENT_WAIT_MS = 100

REMEDY = "Restart the service; if it comes again, see its log"


def find_header(wanted: str) -> str:
    """Return the path of the chip with the header's pins. Raises GpioLinkError."""
    if wanted != "auto":
        if gpiod.is_gpiochip_device(wanted):
            return wanted
        raise GpioLinkError(
            f"{wanted} is no GPIO chip, or not to be reached",
            remedy="Correct gpio.chip (gpiodetect lists them), or leave it at auto",
        )
    for number in range(MAX_CHIPS):
        path = f"/dev/gpiochip{number}"
        with contextlib.suppress(OSError):
            if gpiod.is_gpiochip_device(path):
                with gpiod.Chip(path) as chip:
                    if chip.get_info().label == LABEL:
                        return path
    raise GpioLinkError(
        f"no GPIO chip that calls itself {LABEL} can be opened",
        remedy="Is this a Raspberry Pi 5, and the service's user in the group gpio? "
        "gpiodetect lists what there is",
    )


class DeadManProcess:
    """The dead-man from its controller's side. `send` never blocks; `close` ends the process."""

    def __init__(self, chip: str, parameters: GpioParameters, duty_file: Path) -> None:
        """Start it and wait for its word. Raises GpioLinkError, with nothing left behind."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        script = str(Path(gpiod_dead_man.__file__))
        arguments = [str(theirs.fileno()), chip, str(parameters.pins.motor_enable)]
        arguments += [str(duty_file), str(int(parameters.monostable))]
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", script, *arguments],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.socket = ours
        self._tokens = itertools.count(1)
        self._sent: deque[tuple[int, int, float]] = deque()
        self.refuses = False
        """True once a grant was answered by none: it was told to end, or is too late."""
        self._answered = threading.Condition()
        self._token, self.until_ns, self.level = 0, 0, 0
        ours.settimeout(START_S)
        word = b""
        with contextlib.suppress(OSError):
            word = ours.recv(256)
        if len(word) != ANSWER.size:
            self.close()
            raise _start_error(word.decode(errors="replace"), parameters.pins.motor_enable)
        ours.setblocking(False)
        _, _, self.level = ANSWER.unpack(word)

    def send(self, kind: int, until_ns: int = 0) -> int:
        """Hand an order to the kernel; return its token. Never blocks, never raises."""
        token = next(self._tokens)
        self._sent.append((token, kind, time.monotonic()))
        with contextlib.suppress(OSError):  # A full buffer shows as an answer that is missing.
            self.socket.send(ORDER.pack(kind, token, until_ns), socket.MSG_NOSIGNAL)
        return token

    def take_answer(self) -> bool:
        """Take one answer off the socket, which must be readable; False at its end."""
        try:
            answer = self.socket.recv(256)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if len(answer) != ANSWER.size:
            return False
        with self._answered:
            self._token, self.until_ns, self.level = ANSWER.unpack(answer)
            with contextlib.suppress(IndexError):
                while self._sent[0][0] <= self._token:
                    token, kind, _ = self._sent.popleft()
                    if kind == GRANT and token == self._token and not self.until_ns:
                        self.refuses = True
            self._answered.notify_all()
        return True

    def silence_s(self) -> float:
        """How long the oldest order has gone unanswered."""
        with contextlib.suppress(IndexError):
            return time.monotonic() - self._sent[0][2]
        return 0.0

    def wait_for(self, token: int, timeout_s: float) -> bool:
        """True once the order with this token was answered."""
        with self._answered:
            return self._answered.wait_for(lambda: self._token >= token, timeout_s)

    def close(self) -> None:
        """End it: it drops EN when the socket closes; one that does not is killed."""
        self.socket.close()
        try:
            self.process.wait(0.1)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _start_error(word: str, enable: int) -> GpioLinkError:
    if "Errno 16" in word:
        return GpioLinkError(
            f"GPIO {enable} (EN) is in use by another program",
            remedy="See who holds it: gpioinfo; end that program",
        )
    return GpioLinkError(
        f"the dead-man process does not start: {word or 'it said nothing'}",
        remedy="Is gpiod installed (pip install 'shaker-ctl[pi]') and the user in the group gpio?",
    )


class GpiodLink:
    """Shared by the adapters of all pins. `open` once; its keeper replaces a lost dead-man."""

    def __init__(self, parameters: GpioParameters) -> None:
        self.parameters = parameters
        self._hooks: list[Callable[[gpiod.Chip, Path], None]] = []
        self._ends: list[Callable[[], None]] = []
        self._sources: dict[int, Callable[[], None]] = {}
        self._motor_pwm: SysfsPwm | None = None
        self._dead_man: DeadManProcess | None = None
        self._hold: gpiod.LineRequest | None = None
        self._trouble: GpioLinkError | None = GpioLinkError(
            "the GPIO link has not been opened", remedy=REMEDY
        )
        self._generation = 0
        self._path = ""
        self._chip: gpiod.Chip | None = None
        self._state = threading.Lock()
        self._woken, self._wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._closing = False
        self._keeper = threading.Thread(target=self._keep, name="gpio-keeper", daemon=True)
        self._events = threading.Thread(target=self._read_events, name="gpio-events", daemon=True)

    # ── For the adapters and the motion thread ──────────────────────────────

    def attach(self, hook: Callable[[gpiod.Chip, Path], None]) -> None:
        """Have `hook(chip, folder of the PWM)` called at the opening; it takes its lines."""
        self._hooks.append(hook)

    def at_close(self, end: Callable[[], None]) -> None:
        """Have `end()` called when the link closes, to let go of lines."""
        self._ends.append(end)

    def on_readable(self, descriptor: int, take: Callable[[], None]) -> None:
        """Have `take()` called by the events' thread whenever the descriptor is readable."""
        self._sources[descriptor] = take

    def open(self) -> None:
        """Open, and begin to watch. Raises GpioLinkError with the remedy; nothing is left open."""
        p = self.parameters
        self._path = find_header(p.chip)
        pwm_chip = find_chip(p.pwm_chip)
        try:
            self._chip = gpiod.Chip(self._path)
            self._motor_pwm = SysfsPwm(pwm_chip, p.pins.motor_pwm, p.pwm_hz)
            self._dead_man = DeadManProcess(self._path, p, self._motor_pwm.duty_file)
            for hook in self._hooks:
                hook(self._chip, pwm_chip)
        except OSError as error:
            self._release()
            raise GpioLinkError(
                f"{self._path} refuses a line: {error.strerror}",
                remedy="See who holds the pins of [gpio.pins]: gpioinfo; end that program",
            ) from error
        except GpioLinkError:
            self._release()
            raise
        self._generation += 1
        self._trouble = None
        self._keeper.start()
        self._events.start()
        log.info("GPIO link open: %s, dead-man %s", self._path, self._dead_man.process.pid)

    def close(self) -> None:
        """End the watch and the dead-man, which takes EN low."""
        self._closing = True
        with contextlib.suppress(OSError):
            os.write(self._wake, b"x")
        for thread in (self._keeper, self._events):
            if thread.is_alive():
                thread.join(timeout=START_S)
        self._release()
        for descriptor in (self._woken, self._wake):
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def trouble(self) -> GpioLinkError | None:
        """Return why the pins cannot be trusted now, or None. Never blocks."""
        return self._trouble

    def generation(self) -> int:
        """Return how often the dead-man has been started."""
        return self._generation

    def call(self, use: Callable[[], T]) -> T:
        """Return `use()`, a system call or a few. Raises GpioLinkError."""
        if self._trouble is not None:
            raise GpioLinkError(str(self._trouble), remedy=self._trouble.remedy)
        try:
            return use()
        except OSError as error:
            raise GpioLinkError(
                f"the kernel refused at {self._path}: {error.strerror}", remedy=REMEDY
            ) from error

    # ── The motor's part ────────────────────────────────────────────────────

    def grant(self, seconds: float) -> None:
        """Grant EN for so long from now. Raises GpioLinkError, with the duty at zero, where the
        dead-man has not answered for that time."""
        dead_man = self.call(lambda: self._dead_man)
        if dead_man is None or dead_man.silence_s() > seconds:
            raise self._lose(f"the dead-man process has not answered for {seconds:g} s")
        if dead_man.refuses:
            raise self._lose("the dead-man process grants nothing more")
        dead_man.send(GRANT, time.monotonic_ns() + round(seconds * 1e9))

    def revoke(self) -> None:
        """EN and duty low at once. Never blocks, never raises."""
        dead_man, pwm = self._dead_man, self._motor_pwm
        if dead_man is not None:
            dead_man.send(REVOKE)
        if pwm is not None:
            with contextlib.suppress(OSError):
                pwm.write(0.0)

    def drive(self, duty: float) -> None:
        """Set the motor's duty, 0.0-1.0. Raises GpioLinkError."""
        pwm = self._motor_pwm
        if pwm is not None:
            self.call(lambda: pwm.write(duty))

    def ask(self) -> tuple[int, int]:
        """Return the level of EN as the pin has it, and the time in ns until which it is granted
        (0: not). Raises GpioLinkError."""
        dead_man = self.call(lambda: self._dead_man)
        if dead_man is None or not dead_man.wait_for(dead_man.send(ASK), self.parameters.answer_s):
            raise self._lose(
                f"the dead-man process has not answered for {self.parameters.answer_s:g} s"
            )
        return dead_man.level, dead_man.until_ns

    # ── The keeper ──────────────────────────────────────────────────────────

    def _lose(self, what: str) -> GpioLinkError:
        """Give this dead-man up: duty to zero now, the rest by the keeper."""
        with self._state:
            if self._trouble is None:
                self._trouble = GpioLinkError(f"the GPIO link was lost: {what}", remedy=REMEDY)
                log.error("%s", self._trouble.line())
            trouble = self._trouble
        if self._motor_pwm is not None:
            with contextlib.suppress(OSError):
                self._motor_pwm.write(0.0)
        with contextlib.suppress(OSError):
            os.write(self._wake, b"x")
        return trouble

    def _keep(self) -> None:
        while not self._closing:
            if self._trouble is None:
                self._beat()
            else:
                self._replace()

    def _beat(self) -> None:
        """Ask once, and take answers until the next beat or the end of the dead-man."""
        dead_man = self._dead_man
        assert dead_man is not None
        dead_man.send(ASK)
        until_s = time.monotonic() + BEAT_S
        while not self._closing and self._trouble is None:
            left_s = until_s - time.monotonic()
            if left_s <= 0.0:
                break
            answers = dead_man.socket.fileno()
            readable, _, _ = select.select([answers, self._woken], [], [], left_s)
            if self._woken in readable:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._woken, 1)
            if answers in readable and not dead_man.take_answer():
                self._lose("the dead-man process has ended")
        if self._trouble is None and dead_man.silence_s() > self.parameters.answer_s:
            self._lose(f"the dead-man process has not answered for {self.parameters.answer_s:g} s")

    def _replace(self) -> None:
        """Hold EN low from here while one dead-man is replaced by the next."""
        old, self._dead_man = self._dead_man, None
        if old is not None:
            old.process.kill()  # It may be stopped, with EN high: nothing else ends it then.
            old.close()
        self._hold_low()
        assert self._motor_pwm is not None
        try:
            self._let_go()  # The level stays, or the resistor keeps it: the next one starts low.
            fresh = DeadManProcess(self._path, self.parameters, self._motor_pwm.duty_file)
        except GpioLinkError as error:
            with self._state:
                self._trouble = error
            self._hold_low()
            time.sleep(REOPEN_S)
            return
        with self._state:
            self._dead_man = fresh
            self._generation += 1
            self._trouble = None
        log.info("GPIO link open again: dead-man %s", fresh.process.pid)

    def _hold_low(self) -> None:
        """Take EN as a low output, unless somebody else has it."""
        assert self._chip is not None
        settings = gpiod.LineSettings(direction=Direction.OUTPUT, output_value=Value.INACTIVE)
        enable = self.parameters.pins.motor_enable
        with contextlib.suppress(OSError):
            self._hold = self._chip.request_lines({enable: settings}, consumer="shaker, held low")

    def _let_go(self) -> None:
        hold, self._hold = self._hold, None
        if hold is not None:
            hold.release()

    # ── Edges ───────────────────────────────────────────────────────────────

    def _read_events(self) -> None:
        poll = select.poll()
        for descriptor in self._sources:
            poll.register(descriptor, select.POLLIN)
        while not self._closing:
            for descriptor, _ in poll.poll(EVENT_WAIT_MS):
                with contextlib.suppress(OSError):
                    self._sources[descriptor]()

    def _release(self) -> None:
        dead_man, self._dead_man = self._dead_man, None
        if dead_man is not None:
            dead_man.close()
        self._let_go()
        for end in self._ends:
            end()
        if self._motor_pwm is not None:
            self._motor_pwm.close()
        if self._chip is not None:
            self._chip.close()
            self._chip = None
