"""Serial lines of the rig: pseudo-terminals, joined to each other or to a box, at their baud rate.

Owns the timing of bytes, the effects of cuts, noise, loss and delay, and what a port with other
settings receives. Must not know what the bytes mean.

A closed serial port keeps nothing, and a closed end of these lines keeps nothing: bytes that arrive
are lost. The device name is a symbolic link. So the name of an unplugged adapter vanishes and comes
back on a new device, as a udev name does.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import select
import socket
import threading
import time
import tty
from collections import deque
from pathlib import Path

import serial

from hil_tests.rig.fault_set import FaultSet, catalogue
from hil_tests.rig.wires.uart import Framing, framing_of, heard
from virtual_pigpiod.scheduling import go_first

SLICE_S = 0.002
"""Length of a slice, in seconds. Bytes move in slices, as in USB adapters; the last ends on
time."""
CLOSED_LOOK_S = 0.02
"""How often a closed port is looked at: a pseudo-terminal does not say when it is opened."""

LINE_FAULTS = catalogue("line")


class LineFaults(FaultSet):
    """The faults of one line. A transfer is an event, so that a cut can wait for the n-th."""

    def __init__(self) -> None:
        super().__init__("line", LINE_FAULTS.values(), ("transfers",))


class Terminal:
    """One pseudo-terminal with a device name for whoever opens it."""

    def __init__(self, name: Path) -> None:
        self.name = name
        self._fd: int | None = None
        self.plug()

    @property
    def fd(self) -> int | None:
        """The rig's side; None while unplugged."""
        return self._fd

    def plug(self) -> None:
        """Appear under the device name. Without effect when plugged."""
        if self._fd is not None:
            return
        rig_side, device_side = os.openpty()
        tty.setraw(device_side)
        os.set_blocking(rig_side, False)
        fresh = self.name.with_name(self.name.name + ".new")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(os.ttyname(device_side))
        fresh.replace(self.name)
        os.close(device_side)
        self._fd = rig_side

    def unplug(self) -> None:
        """Vanish: whoever has the device open gets an error. Without effect when unplugged."""
        if self._fd is not None:
            self.name.unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = None

    def is_open(self) -> bool:
        """True while a program has the device open."""
        if self._fd is None:
            return False
        poll = select.poll()
        poll.register(self._fd, 0)
        return not poll.poll(0)

    def read(self) -> bytes:
        if self._fd is None:
            return b""
        try:
            return os.read(self._fd, 4096)
        except BlockingIOError:
            return b""
        except OSError as error:
            if error.errno == errno.EIO:  # closed by the other side
                return b""
            raise

    def write(self, data: bytes) -> None:
        """Hand bytes to the device; what its full buffer does not take is lost, as on a UART.

        So is what comes in the moment in which the device is closed.
        """
        if self._fd is not None and self.is_open():
            with contextlib.suppress(OSError):
                os.write(self._fd, data)


class Port(Terminal):
    """A real serial port as the rig's end, whose cable leads to another computer.

    The port paces the bytes and checks them by itself. Pulling out the controller's adapter closes
    it: the name stays, and nothing arrives.
    """

    def __init__(self, device: Path, framing: Framing) -> None:
        """Raises `serial.SerialException`, an OSError, where the port does not open."""
        self._framing = framing
        self._port: serial.Serial | None = None
        super().__init__(device)

    def plug(self) -> None:
        if self._port is None:
            self._port = serial.Serial(
                str(self.name),
                self._framing.baudrate,
                parity=self._framing.parity.value[0].upper(),
                stopbits=self._framing.stop_bits,
                timeout=0,
                write_timeout=0,
                exclusive=True,
            )
            self._fd = self._port.fileno()

    def unplug(self) -> None:
        if self._port is not None:
            self._port.close()
            self._port = self._fd = None

    def is_open(self) -> bool:
        return self._fd is not None


class BoxEnd:
    """The end of a line inside the rig: a box that receives and sends bytes.

    Its side of a socket pair belongs to the line's thread, the other to the box's.
    """

    def __init__(self) -> None:
        self._line_side, self._box_side = socket.socketpair()
        self._line_side.setblocking(False)

    @property
    def fd(self) -> int | None:
        return self._line_side.fileno()

    def is_open(self) -> bool:
        return True

    def read(self) -> bytes:
        try:
            return self._line_side.recv(4096)
        except BlockingIOError:
            return b""

    def write(self, data: bytes) -> None:
        with contextlib.suppress(BlockingIOError):
            self._line_side.send(data)

    def receive(self, timeout_s: float | None) -> bytes | None:
        """For the box: bytes, b"" after `timeout_s` of silence, None when the line has ended."""
        try:
            self._box_side.settimeout(timeout_s)
            return self._box_side.recv(4096) or None
        except TimeoutError:
            return b""
        except OSError:
            return None

    def send(self, data: bytes) -> None:
        """For the box: bytes onto the line."""
        with contextlib.suppress(OSError):
            self._box_side.sendall(data)

    def close(self) -> None:
        self._line_side.close()
        with contextlib.suppress(OSError):
            self._box_side.shutdown(socket.SHUT_RDWR)
        self._box_side.close()


End = Terminal | BoxEnd


class Flow:
    """One direction of a line: bytes on their way, each with the time of its arrival."""

    def __init__(self, byte_s: float, faults: LineFaults, seed: int) -> None:
        self._byte_s = byte_s
        self._faults = faults
        self._chance = random.Random(seed)
        self.busy_until = 0.0
        """When the last byte will have left."""
        self._travelling: deque[tuple[float, bytes]] = deque()

    def take(self, data: bytes, now: float) -> None:
        """Put bytes on the wire; they follow those that are still being sent."""
        if "line_cut" in self._faults:
            return
        late_s = self._faults.number("line_delay", "delay_s") if "line_delay" in self._faults else 0
        step = max(1, int(SLICE_S / self._byte_s)) if self._byte_s else len(data)
        self.busy_until = max(self.busy_until, now)
        for at in range(0, len(data), step):
            piece = data[at : at + step]
            self.busy_until += len(piece) * self._byte_s
            self._travelling.append((self.busy_until + late_s, self._damaged(piece)))

    def arrived(self, now: float) -> bytes:
        """Take off what has arrived."""
        pieces = []
        while self._travelling and self._travelling[0][0] <= now:
            pieces.append(self._travelling.popleft()[1])
        return b"".join(pieces)

    @property
    def next_arrival(self) -> float | None:
        return self._travelling[0][0] if self._travelling else None

    def _damaged(self, piece: bytes) -> bytes:
        if "line_loss" in self._faults:
            chance = self._faults.number("line_loss", "per_byte")
            piece = bytes(byte for byte in piece if self._chance.random() >= chance)
        if "line_noise" in self._faults:
            chance = self._faults.number("line_noise", "per_byte")
            piece = bytes(
                byte ^ 1 << self._chance.randrange(8) if self._chance.random() < chance else byte
                for byte in piece
            )
        return piece


class Line:
    """Two ends and the wire between them, carried by a thread of its own until `close`.

    A line to a box has one pair of wires, and the box a port that is set to `framing`. A program
    that set its own otherwise says and hears nothing, and one that begins before the box has been
    silent for 3.5 characters is not heard: its bytes meet those of the box, or find no begin of a
    frame.
    """

    def __init__(
        self, name: str, left: End, right: End, *, framing: Framing | None, seed: int = 0
    ) -> None:
        """`framing` None carries bytes at once."""
        self.name = name
        self.faults = LineFaults()
        self.ends = (left, right)
        self._box = framing if isinstance(right, BoxEnd) else None
        self.interrupted = 0
        """How often the left end began before the box had been silent for long enough."""
        byte_s = framing.byte_s if framing else 0.0
        self._flows = (Flow(byte_s, self.faults, seed), Flow(byte_s, self.faults, seed + 1))
        self.carried = [0, 0]
        """Bytes handed on so far, left to right and right to left."""
        self._stop, self._stopped = os.pipe()
        self._thread = threading.Thread(target=self._carry, name=f"line-{name}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Unplug both ends and end the thread. Idempotent."""
        if self._thread.is_alive():
            os.write(self._stopped, b".")
            self._thread.join()
            os.close(self._stop)
            os.close(self._stopped)
        for end in self.ends:
            if isinstance(end, Terminal):
                end.unplug()
            else:
                end.close()

    def _carry(self) -> None:
        go_first()
        while True:
            self._obey_plug()
            fds, timeout = self._await()
            ready, _, _ = select.select([self._stop, *fds], [], [], timeout)
            if self._stop in ready:
                return
            now = time.monotonic()
            for here, flow in enumerate(self._flows):
                if self.ends[here].fd in ready and (data := self.ends[here].read()):
                    self.faults.count("transfers")
                    flow.take(self._understood(here, data, now), now)
                if arrived := flow.arrived(now):
                    self.ends[1 - here].write(arrived)
                    self.carried[here] += len(arrived)

    def _understood(self, here: int, data: bytes, now: float) -> bytes:
        """What the port at the other end makes of `data`."""
        box, left = self._box, self.ends[0].fd
        if box is None or left is None:
            return data
        if here == 0 and now < self._flows[1].busy_until + box.silence_s:
            self.interrupted += 1
            return b""
        program = framing_of(left)
        return heard(data, program, box) if here == 0 else heard(data, box, program)

    def _obey_plug(self) -> None:
        """The left end is the controller's adapter: that one is pulled out and put back."""
        left = self.ends[0]
        if isinstance(left, Terminal):
            if "line_unplugged" in self.faults:
                left.unplug()
            else:
                left.plug()

    def _await(self) -> tuple[list[int], float | None]:
        """Return what to watch, and how long: a closed port has nothing and must be looked at."""
        open_fds = [end.fd for end in self.ends if end.fd is not None and end.is_open()]
        arrivals = [at for flow in self._flows if (at := flow.next_arrival) is not None]
        timeout = max(0.0, min(arrivals) - time.monotonic()) if arrivals else None
        if len(open_fds) < 2 or timeout is None:
            timeout = min(CLOSED_LOOK_S, timeout) if timeout is not None else CLOSED_LOOK_S
        return open_fds, timeout
