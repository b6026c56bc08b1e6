"""The virtual pigpiod as a process would look from outside: started, terminated, killed, frozen.

Owns: the thread in which one daemon lives, and what each kind of end leaves on the board.
Must not know: commands. The board outlives it.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

from virtual_pigpiod.buses.attached import Attached
from virtual_pigpiod.daemon import Daemon
from virtual_pigpiod.loop import Loop
from virtual_pigpiod.pins.board import Board
from virtual_pigpiod.pins.sources import SAMPLE_US
from virtual_pigpiod.server import Manners, Server, listen


class VirtualPigpiod:
    """A daemon on `board`. `start` may be called again after `terminate` or `kill`.

    Methods may be called from any thread, also from a listener of the board; they return when it is
    done.
    """

    def __init__(
        self,
        board: Board,
        host: str = "127.0.0.1",
        port: int = 0,
        fifo_folder: Path | None = None,
        attached: Attached | None = None,
        sample_us: int = SAMPLE_US,
    ) -> None:
        """`sample_us`: how often pins are looked at for reports (the daemon's -s): 1, 2, 4, 5, 8 or
        10. Soft PWM is that of 5 whatever is chosen here."""
        self.board = board
        self.host = host
        self.port = port
        """Port it listens at; 0 before the first start means any free one."""
        self._sample_us = sample_us
        self._attached = attached or Attached()
        self.fifo_folder = fifo_folder
        """Where the pipes of NO appear, None: a new folder while it runs. (The real one: /dev.)"""
        self._own_folder: tempfile.TemporaryDirectory[str] | None = None
        self._loop: Loop | None = None
        self._server: Server | None = None
        self._thread: threading.Thread | None = None
        self._freezer: SimpleQueue[Callable[[], None]] | None = None

    def __enter__(self) -> VirtualPigpiod:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.terminate()

    @property
    def is_running(self) -> bool:
        """True from start until terminate or kill, also while it hangs."""
        return self._thread is not None

    def start(self) -> None:
        """Start a daemon with empty bookkeeping. Raises OSError when the port is taken.

        Modes and levels stay as they are. Soft PWM and waves that a killed daemon left running end
        now, at whatever level they have: the new daemon takes the DMA channel.
        """
        if self.is_running:
            return
        listener = listen(self.host, self.port)
        self.port = listener.getsockname()[1]
        if self.fifo_folder is None:
            self._own_folder = tempfile.TemporaryDirectory(prefix="pigpio-")
            self.fifo_folder = Path(self._own_folder.name)
        self.board.stop_writers()
        self._loop = Loop()
        daemon = Daemon(self.board, self._loop, self.fifo_folder, self._attached, self._sample_us)
        self._server = Server(self._loop, daemon, listener)
        self._thread = threading.Thread(target=self._loop.run, name="virtual-pigpiod", daemon=True)
        self._thread.start()

    def terminate(self) -> None:
        """SIGTERM: PWM and waves stop in mid-cycle, pins stay outputs; hardware PWM runs on."""
        if self.is_running:
            self.kill()
            self.board.stop_writers()

    def kill(self) -> None:
        """SIGKILL: connections die, scripts end; DMA-driven PWM and waves run on.

        What clients sent while it hung or was frozen is never carried out.
        """
        if self._thread is None:
            return
        if self._freezer is None:
            self._finish_turn()
        self._in_loop(self._die)
        if threading.current_thread() is not self._thread:
            self._thread.join()
        self._loop = self._server = self._thread = None
        if self._own_folder is not None:
            self._own_folder.cleanup()
            self._own_folder = self.fifo_folder = None

    def hang(self) -> None:
        """Accept connections and read nothing; scripts, PWM and waves go on."""
        self._behave(Manners.HANG)

    def reject(self) -> None:
        """Close every new connection at once; those that exist go on."""
        self._behave(Manners.REJECT)

    def vanish(self) -> None:
        """Close all connections at once, as a cut link does; nothing else happens."""
        if self._server is not None:
            self._in_loop(self._server.drop)

    def freeze(self) -> None:
        """SIGSTOP: neither answers nor runs scripts or notifications; PWM and waves go on."""
        if self._loop is not None and self._freezer is None:
            freezer: SimpleQueue[Callable[[], None]] = SimpleQueue()
            self._freezer = freezer
            self._loop.post(lambda: freezer.get()())

    def resume(self) -> None:
        """Back to good manners after hang, reject or freeze."""
        self._behave(Manners.NORMAL)

    @property
    def connections(self) -> int:
        """Clients connected now; a `pigpio.pi()` counts twice."""
        return 0 if self._server is None else self._server.connections

    @property
    def is_blocked(self) -> bool:
        """True while a client that does not read its reports holds up those of all."""
        return self._server is not None and self._server.daemon.alerts.is_blocked

    def _behave(self, manners: Manners) -> None:
        server = self._server
        if server is not None:
            self._in_loop(lambda: server.behave(manners))

    def _finish_turn(self) -> None:
        """Let what has already come be answered: a healthy daemon takes no time over it."""
        for _ in range(2):  # the first may fall into a turn that began before it came
            self._in_loop(lambda: None)

    def _die(self) -> None:
        if self._server is not None and self._loop is not None:
            self._loop.stop()
            self._server.close()
            self._server.daemon.close()

    def _in_loop(self, action: Callable[[], None]) -> None:
        """Run `action` in the daemon's thread and wait until it is done.

        A frozen daemon thaws for it, and does it before anything else.
        """
        if self._loop is None or threading.current_thread() is self._thread:
            action()
            return
        done = threading.Event()

        def run() -> None:
            action()
            done.set()

        if self._freezer is None:
            self._loop.post(run)
        else:
            self._freezer.put(run)
            self._freezer = None
        done.wait()
