"""What can go wrong between lens and wire: what each fault of the camera does.

It owns the effect of each fault on a picture or on the stream of pictures. It must not know how
pictures are made, nor of HTTP.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

import cv2
import numpy as np

from hil_tests.rig.camera.backdrop import RIM_MM
from hil_tests.rig.camera.optics import Image, Lens
from hil_tests.rig.camera.weather import WEATHER
from hil_tests.rig.fault_set import FaultSet, Value, catalogue

MEMORY_S = 10.5
"""Time, in seconds, for which pictures are kept for late and looped streams."""
TORN_S = 1.0
"""How much of it is kept as pictures, for torn ones."""

SEED = 9
CAMERA_FAULTS = catalogue("camera")


class CameraFaults(FaultSet):
    """The faults in force, with the memory that some of them need. One owner."""

    def __init__(self, fps: float, lens: Lens | None = None) -> None:
        """`lens`: of the camera; a stereo camera's pictures come side by side in one."""
        super().__init__("camera", CAMERA_FAULTS.values())
        self._fps = fps
        self._pictures: deque[Image] = deque(maxlen=max(2, int(TORN_S * fps)))
        self._encoded: deque[tuple[float, bytes]] = deque(maxlen=int(MEMORY_S * fps))
        self._loop: list[bytes] = []
        self._loop_at = 0
        self._random = np.random.default_rng(SEED)
        beside_px = [0.0]
        if lens is not None and lens.second is not None:
            beside_px.append(lens.second_mm * lens.focal_px / (lens.height_mm - RIM_MM))
        self._lenses = len(beside_px)
        self._weather = {
            name: [make(np.random.default_rng(SEED), px) for px in beside_px]
            for name, make in WEATHER.items()
        }

    def inject(
        self, name: str, *, after: tuple[int, str] | None = None, **parameters: Value
    ) -> None:
        super().inject(name, after=after, **parameters)
        if name == "looped":
            count = max(1, int(self.number(name, "seconds") * self._fps))
            self._loop = [jpeg for _, jpeg in self._encoded][-count:]
            self._loop_at = 0

    @property
    def period_s(self) -> float:
        """Time between two frames."""
        return 1.0 / (self.number("slow", "fps") if "slow" in self else self._fps)

    @property
    def is_silent(self) -> bool:
        return "dead" in self

    @property
    def is_closed(self) -> bool:
        return "closed" in self

    def needs_no_picture(self) -> bool:
        """True while nothing new would be sent anyway."""
        return bool({"frozen", "looped"} & self._active.keys()) and bool(self._encoded)

    def on_picture(self, picture: Image, at_s: float = 0.0) -> Image:
        """Apply what happens to the picture itself, which was taken at `at_s`."""
        if not self._active:
            self._pictures.append(picture)
            return picture
        for name, weather in self._weather.items():
            if name in self:
                picture = self._by_lens(picture, name, weather, at_s)
        if "torn" in self and self._pictures:
            back = max(1, int(self.number("torn", "seconds") * self._fps))
            old = self._pictures[-min(len(self._pictures), back)]
            cut = int(self._random.integers(picture.shape[0] // 4, 3 * picture.shape[0] // 4))
            torn = np.vstack([picture[:cut], old[cut:]])
        else:
            torn = picture
        self._pictures.append(picture)
        for name, effect in _EFFECTS.items():
            if name in self:
                torn = self._by_lens(torn, name, [effect] * self._lenses, self._random)
        return self._resized(torn) if "wrong_size" in self else torn

    def _by_lens(
        self, picture: Image, name: str, effects: Sequence[Callable[..., Image]], also: object
    ) -> Image:
        """The picture with each lens's part changed, or that of the lens which the fault names."""
        numbers, parts = self.numbers(name), np.hsplit(picture, self._lenses)
        return np.hstack(
            [
                effect(part, numbers, also) if numbers.get("lens", 0) in (0, lens) else part
                for lens, (effect, part) in enumerate(zip(effects, parts, strict=True), 1)
            ]
        )

    def _resized(self, picture: Image) -> Image:
        values = self.numbers("wrong_size")
        size = (int(values["width"]), int(values["height"]))
        return cv2.resize(picture, size, interpolation=cv2.INTER_AREA)

    def on_jpeg(self, at_s: float, jpeg: bytes) -> bytes | None:
        """Remember an encoded frame and return the one to send now, or None for nothing."""
        if "garbled" in self:
            jpeg = _garble(jpeg, self._random)
        self._encoded.append((at_s, jpeg))
        if "late" in self:
            due_s = at_s - self.number("late", "seconds")
            ripe = [old for then, old in self._encoded if then <= due_s]
            return ripe[-1] if ripe else None
        return jpeg

    def replay(self) -> bytes | None:
        """The frame to send while nothing new is made (frozen, looped)."""
        if "frozen" in self:
            return self._encoded[-1][1]
        if not self._loop:
            return None
        jpeg = self._loop[self._loop_at % len(self._loop)]
        self._loop_at += 1
        return jpeg


def _black(picture: Image, values: Mapping[str, float], random: np.random.Generator) -> Image:
    noise = random.integers(2, 8, picture.shape[:2], dtype=np.uint8)
    return cv2.cvtColor(noise, cv2.COLOR_GRAY2BGR)


def _over(picture: Image, values: Mapping[str, float], random: np.random.Generator) -> Image:
    return cv2.convertScaleAbs(picture, alpha=float(np.sqrt(values["times"])) * 1.3)


def _defocus(picture: Image, values: Mapping[str, float], random: np.random.Generator) -> Image:
    return cv2.GaussianBlur(picture, (0, 0), values["sigma_px"])


def _shift(picture: Image, values: Mapping[str, float], random: np.random.Generator) -> Image:
    move = np.array([[1.0, 0.0, values["x_px"]], [0.0, 1.0, values["y_px"]]])
    size = (picture.shape[1], picture.shape[0])
    return cv2.warpAffine(picture, move, size, borderMode=cv2.BORDER_REPLICATE)


def _block(picture: Image, values: Mapping[str, float], random: np.random.Generator) -> Image:
    edge = values["share"] * picture.shape[1]
    u = np.arange(picture.shape[1], dtype=np.float32)
    seen = np.clip((u - edge) / 40.0 + 0.5, 0.04, 1.0)
    shade = np.ascontiguousarray(np.broadcast_to(seen[None, :, None], picture.shape))
    return cv2.multiply(picture, shade, dtype=cv2.CV_8U)


_EFFECTS = {
    "black": _black,
    "over_exposed": _over,
    "defocused": _defocus,
    "shifted": _shift,
    "blocked": _block,
}


def _garble(jpeg: bytes, random: np.random.Generator) -> bytes:
    start = len(jpeg) // 3
    noise = random.integers(0, 255, 600, dtype=np.uint8).tobytes()
    return jpeg[:start] + noise + jpeg[start + 600 :]
