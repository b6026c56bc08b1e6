"""What the service and the camera process say to each other.

Owns: the requests and the messages; `wire` turns them into bytes. Imports neither OpenCV,
onnxruntime nor numpy: the service's own process stays light, and all pictures cross as JPEG bytes.
Times are seconds on the monotonic clock, which all processes of one machine share.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from shaker_ctl.frozen import frozen
from shaker_ctl.reading.controls import Controls
from shaker_ctl.rules.vocabulary import Occasion
from vision.reading import Verdict, Verified

# ── Requests: service → camera process ──────────────────────────────────────


@frozen
class CameraSetup:
    """The first message: the settings `[camera]` that the process must know, under their names."""

    device: int | str
    frames_per_s: float
    calibration: dict[str, Any]
    open_timeout_s: float
    silent_after_s: float
    rest_timeout_s: float
    read_timeout_s: float
    dip_level_low: float
    dip_level_high: float
    dip_delay_s: float
    dip_seen_within_s: float
    controls: Controls = field(default_factory=Controls)
    taught: bytes = b""
    """What the table was taught, as `vision.taught` reads it; empty where it was not."""


@frozen
class DiePose:
    """Where a die lay and how it was turned; the value is kept apart from the pose."""

    x_mm: float
    y_mm: float
    turn_deg: float
    """0..90: a square looks the same after a quarter turn."""
    value: int | None
    """What it showed, where both readers agreed."""


@frozen
class BeginToss:
    """The motor is about to start: keep how the dice lie now."""

    occasion: Occasion
    before: tuple[DiePose, ...] | None = None
    """Poses to use instead of looking: a restarted process gets back what it had reported."""


@frozen
class SettleDice:
    """The motor was switched off: follow the dice, and see to the dip. Nothing is read yet."""

    occasion: Occasion


@frozen
class ReadDice:
    """The shaker stands still and the toss is proved: wait for rest, then read."""

    occasion: Occasion


@frozen
class LightDipped:
    """The light now has the level that `DipLight` asked for."""

    occasion: Occasion
    t_set: float


@frozen
class EndReading:
    """Nobody needs the reading of this toss any more."""

    occasion: Occasion


@frozen
class Blind:
    """Covered dice are nobody's business: while blind, frames are discarded undecoded."""

    is_blind: bool


@frozen
class TakePicture:
    """Send the newest frame as a JPEG that a serial line can carry."""

    request_id: int


@frozen
class StopCamera:
    """Close the camera and exit."""


Request = (
    BeginToss | SettleDice | ReadDice | LightDipped | EndReading | Blind | TakePicture | StopCamera
)

# ── Messages: camera process → service ──────────────────────────────────────


@frozen
class CameraReady:
    """Model loaded and warm, camera open, first frame seen."""

    model: str
    width: int
    height: int
    start_s: float
    """From the process's start to now."""


@frozen
class TossWatched:
    """The poses before the toss, or none where they could not be seen."""

    occasion: Occasion
    before: tuple[DiePose, ...] | None


@frozen
class Rested:
    """The dice came to rest. Sent before any value of this toss is looked at."""

    occasion: Occasion
    t_rest: float
    """Capture time of the first frame from which on nothing moved."""
    dice: int
    """How many were seen."""
    poses_changed: int | None
    """How many of them do not lie as any die lay before the toss; None: not known before."""
    is_proved: bool | None
    """Every die's pose changed (O-12). False: at least one die lies as one lay before. None: that
    cannot be told."""


@frozen
class DipLight:
    """Set the ring light to this level now, and say `light_dipped` when it is set."""

    occasion: Occasion
    level: float
    """0..1 of full."""


@frozen
class RestoreLight:
    """The dip was seen (or given up): set the light back to full."""

    occasion: Occasion


@frozen
class ReadingDone:
    """The verdict over the dice of one toss, with the picture on which it was decided."""

    occasion: Occasion
    verdict: Verdict
    t_rest: float | None
    t_dip_seen: float | None
    t_capture: float | None
    """Capture time of the last frame that the verdict needed."""
    t_verdict: float
    jpeg: bytes
    overlay_jpeg: bytes
    frames: tuple[tuple[float, float], ...]
    """Capture time, seconds, and time that the reading took, ms, of each frame of the consensus;
    for a refusal of the last few looked at. What was seen in them stays in the camera process."""
    frames_looked_at: int
    unchanged: bool = False
    """All three dice have the position, orientation and value they had before (O-21)."""

    def __post_init__(self) -> None:
        if isinstance(self.verdict, Verified):
            self.verdict.three  # noqa: B018 - raises ValueError for another number of dice


DIRTY_DOME = "dirty-dome"
"""A spot stays in the picture while the dice move. Told after the toss's result, so that it costs
no round."""


@frozen
class CameraFault:
    """The picture stream, or the process itself, is not fit for reading."""

    code: str
    """Stable: a `vision.reading.Reason`, or `camera-open`, `camera-silent`, `camera-slow`,
    `camera-controls`, `camera-process`, `model`, `dirty-dome`, `teaching`."""
    text: str
    remedy: str = ""


@frozen
class CameraRecovered:
    """The fault of this code is gone."""

    code: str


@frozen
class CameraHealth:
    """The heartbeat."""

    frames: int
    """Grabbed since the start."""
    fps: float
    late: int
    """Frames that came more than half a period after their time, since the start."""
    median: float
    """Median grey level in the compartment, 0..255."""
    sharpness: float
    is_blind: bool


@frozen
class Picture:
    """The newest frame; empty while blind."""

    request_id: int
    jpeg: bytes


Message = (
    CameraReady
    | TossWatched
    | Rested
    | DipLight
    | RestoreLight
    | ReadingDone
    | CameraFault
    | CameraRecovered
    | CameraHealth
    | Picture
)
