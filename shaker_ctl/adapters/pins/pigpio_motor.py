"""The motor behind the daemon: PWM, and EN that belongs to a dead-man inside the daemon.

Owns the dead-man script and its slot. The daemon keeps driving its last output when its client
dies, so EN is raised by a script in the daemon that counts down and is refreshed by the control
loop alone. No refresh: EN falls within the time granted (measured 75-82 ms after SIGKILL of the
client with the reference daemon). It must not know of speed or rounds.

The daemon never reclaims a slot, and it does not tell a script's text. A slot is therefore known by
its parameters, which outlive the client: p9 holds a checksum of the text. The one found is used
again, so that restarts never fill the 32 slots.

| parameter | holds |
|---|---|
| p0 | turns of 10 ms for which EN is still granted |
| p1, p2 | the PWM pin and EN |
| p3 | length of a turn, ms |
| p4 | turns since it was started: proves that it counts |
| p9 | checksum of the text |
"""

from __future__ import annotations

import struct
import time
import zlib
from typing import Any

from shaker_ctl.adapters.pins.gpio_parameters import GpioParameters
from shaker_ctl.adapters.pins.pigpio_link import REMEDY, PigpioLink
from shaker_ctl.adapters.pins.pigpio_wire import PROCP, PROCU, WRITE, Reply, request
from shaker_ctl.errors import GpioLinkError

TURN_MS = 10
SLOTS = 32
INITIALISING, HALTED, RUNNING, WAITING, FAILED = range(5)

# Without refreshes the script holds EN low, and then the PWM pin: `w` takes it away from the
# hardware PWM, so that a driver that ignores EN gets no duty either.
_TURN = "tag 0 mils p3 inr p4 lda p0 cmp 1 jm 9 {raise_enable} dcr p0 jmp 0 "
_HOLD = "tag 9 w p2 0 mics 20 w p1 0 jmp 0"


def script_text(monostable: bool) -> str:
    """Return the dead-man's text; with a monostable EN gets a fresh rising edge every turn."""
    raise_enable = "w p2 0 w p2 1" if monostable else "w p2 1"
    return _TURN.format(raise_enable=raise_enable) + _HOLD


class DeadMan:
    """The script in its slot, as the keeper watches it."""

    def __init__(self, parameters: GpioParameters) -> None:
        self.text = script_text(parameters.monostable)
        self.ticks = max(1, round(parameters.dead_man_s * 1000 / TURN_MS))
        self.slot = -1
        pins = parameters.pins
        self._fixed = (pins.motor_pwm, pins.motor_enable, TURN_MS)
        self._mark = zlib.crc32(self.text.encode()) & 0x7FFFFFFF
        self._counted: int | None = None

    def install(self, pi: Any) -> None:
        """Find our slot or take a new one, and have it run with nothing granted.

        Raises GpioLinkError when no slot is free or the script does not run; pigpio.error and
        OSError from the client.
        """
        self.slot = self._found(pi)
        if self.slot < 0:
            self.slot = pi.store_script(self.text.encode())
            self._await(pi, HALTED)
        state, _ = pi.script_status(self.slot)
        if state == RUNNING:
            pi.update_script(self.slot, [0])
        else:
            pi.run_script(self.slot, [0, *self._fixed, 0, 0, 0, 0, 0, self._mark])
            self._await(pi, RUNNING)
        self._counted = None

    def _found(self, pi: Any) -> int:
        ours = []
        for slot in range(SLOTS):
            state, parameters = pi.script_status(slot)
            if state < 0 or len(parameters) < 10:
                continue
            if parameters[9] == self._mark and tuple(parameters[1:4]) == self._fixed:
                ours.append((state, slot))
        usable = [slot for state, slot in ours if state in (HALTED, RUNNING)]
        for _, slot in ours:
            if slot not in usable[:1]:
                pi.stop_script(slot)
                pi.delete_script(slot)
        return usable[0] if usable else -1

    def _await(self, pi: Any, wanted: int) -> None:
        until_s = time.monotonic() + 0.5
        while time.monotonic() < until_s:
            state, _ = pi.script_status(self.slot)
            if state == wanted:
                return
            if state == FAILED:
                break
            time.sleep(0.002)
        raise GpioLinkError(
            f"the dead-man script in slot {self.slot} of the GPIO daemon does not run",
            remedy=REMEDY,
        )

    def question(self) -> tuple[int, bytes]:
        """Ask for state and parameters."""
        return PROCP, request(PROCP, self.slot)

    def trouble(self, reply: Reply) -> str:
        """The script must run, be ours, and have counted since the last look."""
        if reply.result < 44:
            return f"the dead-man script in slot {self.slot} is gone (error {reply.result})"
        state, *parameters = struct.unpack("<11i", reply.payload[:44])
        if state not in (RUNNING, WAITING) or parameters[9] != self._mark:
            return f"the dead-man script in slot {self.slot} no longer runs"
        before, self._counted = self._counted, parameters[4]
        if before is not None and before == parameters[4]:
            return "the dead-man script in the GPIO daemon no longer counts"
        return ""


class PigpioMotor:
    """`ports.Motor` on pigpio's hardware PWM."""

    def __init__(self, link: PigpioLink, parameters: GpioParameters) -> None:
        self._link = link
        self._enable = parameters.pins.motor_enable
        self._pwm = parameters.pins.motor_pwm
        self._pwm_hz = parameters.pwm_hz
        self._dead_man = DeadMan(parameters)
        self._held = True
        """Set by `stop`, from any thread; while it stands nothing is granted or driven."""
        self._stop_bytes = self._low()
        link.attach(self._install)
        link.watch(self._dead_man)

    def _low(self) -> bytes:
        return request(WRITE, self._enable, 0) + request(WRITE, self._pwm, 0)

    def _install(self, pi: Any) -> None:
        pi.write(self._enable, 0)
        pi.write(self._pwm, 0)
        self._dead_man.install(pi)
        # First no more turns, then low: the other way round the script could raise EN once more.
        # And again no more turns: the script's own countdown may just have overwritten the first.
        revoke = request(PROCU, self._dead_man.slot, 0, (0,))
        self._stop_bytes = revoke + self._low() + revoke

    def arm(self) -> None:
        """Prove that the dead-man counts and EN is low, and lift the hold. Takes 25 ms."""
        slot = self._dead_man.slot
        state, before = self._link.call(lambda pi: pi.script_status(slot))
        time.sleep(2.5 * TURN_MS / 1000)
        _, after = self._link.call(lambda pi: pi.script_status(slot))
        if state < 0 or before[4] == after[4]:
            raise GpioLinkError("the dead-man in the GPIO daemon does not count", remedy=REMEDY)
        if after[0] > 0 or self.is_enabled():
            raise GpioLinkError(
                f"EN (GPIO {self._enable}) is high before a start",
                remedy="Check what else drives the pin",
            )
        self._held = False

    def refresh(self) -> None:
        """Grant EN for the next `dead_man_s`."""
        if self._held:
            return
        slot, ticks = self._dead_man.slot, self._dead_man.ticks
        self._link.call(lambda pi: pi.update_script(slot, [ticks]))
        if self._held:
            self.stop()  # It came while the refresh was on its way, and might have been overtaken.

    def drive(self, duty: float) -> None:
        """Set the duty, 0.0-1.0. Also takes the PWM pin back from the dead-man."""
        if self._held:
            return
        millionths = round(min(max(duty, 0.0), 1.0) * 1_000_000)
        self._link.call(lambda pi: pi.hardware_PWM(self._pwm, self._pwm_hz, millionths))

    def stop(self) -> None:
        """EN and duty low at once, past everything that may block."""
        self._held = True
        self._link.send(self._stop_bytes)

    def is_enabled(self) -> bool:
        """Read EN back."""
        return bool(self._link.call(lambda pi: pi.read(self._enable)))
