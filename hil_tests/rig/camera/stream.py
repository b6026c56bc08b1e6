"""The rig's camera: an MJPEG stream over HTTP on loopback, in a process of its own.

It owns pacing, encoding and serving. It must not know what is in the pictures.

It needs its own process: painting and encoding would share the interpreter's lock with the virtual
daemon, and tests depend on the daemon's latencies. Poses come through shared memory
(`snapshot.SceneBoard`). The camera paints only while a client is connected.
"""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from typing import Any

import cv2

from hil_tests.rig.camera.card import Card
from hil_tests.rig.camera.faults import CameraFaults
from hil_tests.rig.camera.lighting import LightRig
from hil_tests.rig.camera.optics import Lens
from hil_tests.rig.camera.scene import Scene, StereoScene, scene_of
from hil_tests.rig.fault_set import Active
from hil_tests.rig.plant.geometry import Geometry
from hil_tests.rig.plant.snapshot import SceneBoard
from virtual_pigpiod.scheduling import answer_in_time

FPS = 30.0
JPEG_QUALITY = 90
TRANSFER_S = 0.008
"""From the end of the exposure to the moment that the picture is painted and sent. The plant's
samples come once a turn of the machine (`Wires.turn_s`, 4 or 8 ms): by then they are there."""

BOUNDARY = "frame"
_PAGE = b"""<!doctype html><html lang="en"><title>Shaker camera</title>
<style>body{margin:0;background:#111}img{width:100vw;height:100vh;object-fit:contain}</style>
<img src="/camera.mjpg" alt="The compartment from above"></html>"""
ENDS_S = 1.0
"""For a thread of the camera's process to come to its end."""

LOOK = 0
"""Seed of how floor, wall and dice are made: a compartment looks the same on every day, whatever
falls by chance."""

_START_DEADLINE_S = 60.0
_REPLY_DEADLINE_S = 5.0


class CameraLostError(RuntimeError):
    """The camera's process has ended, or does not answer. The rig that it belongs to is of no more
    use; the text says so, and the process itself has said why on stderr."""


class CameraPortError(OSError):
    """The camera cannot listen at the port that it was given. Nothing was started."""


@dataclass(frozen=True, slots=True)
class CameraStatus:
    """Counts since the start."""

    frames: int = 0
    late: int = 0
    """Frames sent more than half a period after they were due."""
    skipped: int = 0
    """Frames that were left out: the one before took too long, or the machine was not moved."""
    clients: int = 0
    frame_ms: float = 0.0
    """Mean time to paint and encode one frame, lately."""
    faults: Active = field(default_factory=dict)


class Camera:
    """The camera process as its owner sees it. Safe to call from any thread."""

    def __init__(
        self,
        geometry: Geometry,
        board: SceneBoard,
        *,
        seed: int = 0,
        bind: str = "127.0.0.1",
        port: int = 0,
        lens: Lens | None = None,
        lights: LightRig | None = None,
    ) -> None:
        """Start the process and wait until it serves.

        Raises `CameraPortError` for a taken port, and `CameraLostError` where it does not start.
        """
        self._lock = threading.Lock()
        self.lens = lens or Lens()
        self.address = "127.0.0.1"
        """By which the stream's readers reach this computer."""
        make_scene = partial(
            scene_of, geometry, seed=LOOK, lens=self.lens, lights=lights, grain_seed=seed
        )
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=camera_process,
            args=(make_scene, board.name, (bind, port), theirs),
            name="rig-camera",
            daemon=True,
        )
        self._process.start()
        theirs.close()
        if not self._pipe.poll(_START_DEADLINE_S):
            self.close()
            raise CameraLostError("the rig's camera process did not start within a minute")
        try:
            answer = self._pipe.recv()
        except EOFError as error:
            self.close()
            raise CameraLostError(
                "the rig's camera process ended at its start. See its own message above"
            ) from error
        if isinstance(answer, OSError):
            self.close()
            raise CameraPortError(
                f"the camera cannot listen at port {port}: {answer.strerror}"
            ) from answer
        self.port = int(answer)

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.port}/camera.mjpg"

    @property
    def pid(self) -> int | None:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.is_alive()

    @property
    def as_delivered(self) -> dict[str, Any]:
        """What its buyer knows: address, serial number, size of a picture, a ruler's reading."""
        return {
            "url": self.url,
            "serial": hashlib.sha256(repr(self.lens).encode()).hexdigest()[:12],
            "image_size": [self.lens.width, self.lens.height],
            "ruler_mm": self.lens.ruler_mm,
            "lenses": 1 if self.lens.second is None else 2,
        }

    def inject(self, name: str, **parameters: float) -> None:
        """Put a fault of the camera in force (see `faults`)."""
        self._ask("inject", name, parameters)

    def lay_card(self, card: Card | None) -> None:
        """Lay a card into the compartment in place of the dice, or put the dice back."""
        self._ask("lay", card, {})

    def clear(self, name: str | None = None) -> None:
        """End one fault or all."""
        self._ask("clear", name, {})

    def status(self) -> CameraStatus:
        status = self._ask("status", None, {})
        assert isinstance(status, CameraStatus)
        return status

    def close(self) -> None:
        """End the process."""
        with self._lock:
            with contextlib.suppress(OSError):
                self._pipe.send(("stop", None, {}))
            self._process.join(3.0)
            if self._process.is_alive():
                self._process.kill()
                self._process.join(3.0)
            self._pipe.close()

    def _ask(self, what: str, name: str | Card | None, parameters: dict[str, float]) -> Any:
        with self._lock:
            try:
                self._pipe.send((what, name, parameters))
                if not self._pipe.poll(_REPLY_DEADLINE_S):
                    raise CameraLostError("the rig's camera process does not answer")
                answer = self._pipe.recv()
            except (EOFError, OSError) as error:
                raise CameraLostError("the rig's camera process has ended") from error
        if isinstance(answer, Exception):
            raise answer
        return answer


def camera_process(
    make_scene: Callable[[], Scene | StereoScene],
    board_name: str,
    address: tuple[str, int],
    pipe: Connection,
) -> None:
    """Serve until told to stop or until the owner is gone. The entry of the camera's process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.excepthook = _end_process
    cv2.setNumThreads(1)
    board = SceneBoard(board_name)
    film = _Film(make_scene(), board)
    try:
        server = _Server(address, film)
    except OSError as error:
        pipe.send(error)  # for the owner to say: it knows where the port came from
        return
    threads = [
        threading.Thread(target=film.run, name="film", daemon=True),
        threading.Thread(target=server.serve_forever, name="http", daemon=True),
    ]
    for thread in threads:
        thread.start()
    answer_in_time()
    pipe.send(server.server_address[1])
    try:
        while True:
            what, name, parameters = pipe.recv()
            if what == "stop":
                break
            pipe.send(_answer(film, what, name, parameters))
    except (EOFError, OSError):
        pass  # The owner is gone; nobody will look at this camera any more.
    film.stop()
    server.shutdown()
    server.server_close()
    for thread in threads:  # one that is in C++ when Python ends would abort the process
        thread.join(ENDS_S)


def _end_process(failure: threading.ExceptHookArgs) -> None:
    """A camera that cannot paint any more must not look like one that is merely slow."""
    traceback.print_exception(failure.exc_value)
    os._exit(1)


def _answer(film: _Film, what: str, name: Any, parameters: dict[str, float]) -> Any:
    try:
        if what == "lay":
            film.lay(name)
        elif what == "inject":
            film.change(lambda faults: faults.inject(str(name), after=None, **parameters))
        elif what == "clear":
            film.change(lambda faults: faults.heal(name))
        return film.status()
    except (KeyError, TypeError, ValueError) as error:
        return error


class _Film:
    """Makes frames at an even pace while anybody looks, and hands each to all who wait."""

    def __init__(self, scene: Scene | StereoScene, board: SceneBoard) -> None:
        self._scene = scene
        self._board = board
        self._faults = CameraFaults(FPS, scene.lens)
        self._changed = threading.Condition()
        self._number = 0
        self._jpeg = b""
        self._clients = 0
        self._late = 0
        self._skipped = 0
        self._cost_s = 0.0
        self._running = True
        self._laid: list[Card | None] = []

    def run(self) -> None:
        due_s = time.monotonic()
        while self._running:
            with self._changed:
                if not self._changed.wait_for(
                    lambda: self._clients > 0 or not self._running, timeout=1.0
                ):
                    continue
                period_s = self._faults.period_s
            due_s += period_s
            now_s = time.monotonic()
            if now_s - due_s > 4.0 * period_s:
                # Nobody looked, or the machine slept: begin anew instead of catching up.
                due_s = now_s
            while now_s - due_s > period_s:
                due_s += period_s
                self._skipped += 1
            if now_s < due_s:
                time.sleep(due_s - now_s)
            self._expose(due_s, period_s)

    def _expose(self, due_s: float, period_s: float) -> None:
        started_s = time.monotonic()
        with self._changed:
            if self._faults.is_silent:
                return
            replayed = self._faults.needs_no_picture()
            jpeg = self._faults.replay() if replayed else None
        if not replayed:
            jpeg = self._take(due_s)
        with self._changed:
            if jpeg is None:
                return
            done_s = time.monotonic()
            self._cost_s += 0.05 * (done_s - started_s - self._cost_s)
            if done_s - due_s > period_s / 2.0:
                self._late += 1
            self._jpeg = jpeg
            self._number += 1
            self._changed.notify_all()

    def _take(self, due_s: float) -> bytes | None:
        end_s = due_s - TRANSFER_S
        since_s = end_s - self._scene.shutter.frame_s - 0.012
        samples = self._board.recent(since_s)
        if len(samples) == 0 or self._board.is_behind(end_s):
            self._skipped += 1
            return None
        while self._laid:  # here, because one thread alone may touch the scene
            self._scene.lay_card(self._laid.pop(0))
        picture = self._scene.render(end_s, samples, self._board.view())
        with self._changed:
            picture = self._faults.on_picture(picture, end_s)
        encoded = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])[1]
        with self._changed:
            return self._faults.on_jpeg(due_s, encoded.tobytes())

    def change(self, act: Callable[[CameraFaults], None]) -> None:
        with self._changed:
            act(self._faults)
            self._changed.notify_all()

    def lay(self, card: Card | None) -> None:
        """Have a card in every picture from the next on, or none."""
        self._laid.append(card)

    def status(self) -> CameraStatus:
        with self._changed:
            return CameraStatus(
                frames=self._number,
                late=self._late,
                skipped=self._skipped,
                clients=self._clients,
                frame_ms=round(self._cost_s * 1000.0, 2),
                faults=self._faults.active,
            )

    def stop(self) -> None:
        with self._changed:
            self._running = False
            self._changed.notify_all()

    @property
    def is_closed(self) -> bool:
        return self._faults.is_closed or not self._running

    @contextlib.contextmanager
    def looking(self) -> Any:
        """Count one client."""
        with self._changed:
            self._clients += 1
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._clients -= 1

    def next_after(self, number: int) -> tuple[int, bytes] | None:
        """Wait for a frame newer than `number`; None when the camera closes or stays silent."""
        with self._changed:
            newer = self._changed.wait_for(
                lambda: self._number > number or self.is_closed, timeout=0.5
            )
            if not newer or self.is_closed:
                return None
            return self._number, self._jpeg


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], film: _Film) -> None:
        super().__init__(address, _Request)
        self.film = film

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle of a picture is no error; all else is."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Request(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if self.server.film.is_closed:
            self.close_connection = True
        elif path == "/":
            self._send(200, "text/html; charset=utf-8", _PAGE)
        elif path == "/camera.mjpg":
            with contextlib.suppress(ConnectionError, TimeoutError):
                self._stream()
        else:
            self._send(404, "text/plain", b"The picture is at /camera.mjpg, the page at /\n")

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self) -> None:
        film = self.server.film
        self.send_response(200)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Type", f"multipart/x-mixed-replace; boundary={BOUNDARY}")
        self.end_headers()
        # A client that stops reading must not hold its thread for ever.
        self.connection.settimeout(20.0)
        number = 0
        with film.looking():
            while not film.is_closed:
                frame = film.next_after(number)
                if frame is None:
                    continue
                number, jpeg = frame
                head = b"--%s\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n"
                self.wfile.write(head % (BOUNDARY.encode(), len(jpeg)) + jpeg + b"\r\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - inherited name
        """Requests are not worth a line on the rig's terminal."""
