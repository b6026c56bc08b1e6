"""One toss as the camera sees it: before, motion, dip, rest, consensus.

Owns: the order of these steps and their deadlines. Must not know the camera, pipes or processes:
frames and moments come in, messages go out.

Theory of operation ------------------- `begin` keeps how the dice lie. `settle` comes when the
motor is switched off, and asks the ring light, after a random wait, to dip to a random level;
`read` comes when the tach has fallen silent and the toss is proved. Rest is when two frames in a
row show no motion. Then, before any value counts, the poses are compared with those before the toss
(`Rested`). A frame counts only if it was taken while the shaker stood still, if it shows rest, and
if it shows the dip or comes after the dip. Without this check a late or looped stream would show
last round's dice. Frames that count are read by both readers as they come, until enough in a row
agree (`vision.table.consensus`). Before `read` frames are only compared with one another, never
read.

Dip, settling and the tach's silence overlap. The dip must only prove that a frame was taken after
the motor was switched off; in sequence the three steps would add 150 ms to every round. The proof
of a dip expires (`_DIP_HOLDS_S`). Dice that settle later, or that move again, get a new dip at
rest. If nothing was visible when the motor was switched off, a cover must leave the picture first.
Then the dip waits for two frames that show no motion, because a moving cover changes the light by
more than any dip.

A verdict counts only if its dice do not lie as in an earlier toss (`toss_memory`). The dip proves
that a picture follows this light. The poses prove that it shows no earlier toss of this process. A
box in the camera's line that relights a recording of another table passes both checks.

A dip that is not seen in time ends the reading, and the next dip is held back for a while: a
stream that lags would otherwise show the first dip just when the second is expected.
"""

from __future__ import annotations

import enum
import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from shaker_ctl.frozen import frozen
from shaker_ctl.reading import messages
from shaker_ctl.reading.kept_picture import kept
from shaker_ctl.reading.toss_memory import TossMemory
from shaker_ctl.rules.vocabulary import Occasion, Purpose
from vision.findings import Findings
from vision.frame import Frame, digest
from vision.reading import DICE, DieEvidence, NoRoll, Observation, Reason, Unreadable, Verdict
from vision.table.consensus import FRAMES, agree, refuse
from vision.table.motion import StillnessDetector, is_same_pose, poses_changed
from vision.table.reader import TableReader
from vision.table.still_scene import StillScene

_DIP_SEEN_RATIO = 0.95
"""Brightness of the compartment below which the dip counts as seen. Grain moves the median by
0.002; a dip to 0.75 of the ring light alone gives 0.75-0.88, depending on the camera's gamma."""

_DIP_COMMAND_S = 0.12
"""Longest wait for word that the light is set, before the dip's own time limit starts anyway."""

_HOLD_BACK_S = 2.0
"""No new dip for so long after one that was missed."""

_DIP_HOLDS_S = 1.0
"""Longest time between the dip and the first frame that counts."""

_LOOK_BACK_S = 0.10
"""How old a frame at rest may be when `read` comes: no older than the tach's silence, of which
`motion.watch.quiet_s` asks at least this."""

_FOLLOWED_S = 3.0
"""Longest time that `settle` is followed without a `read`: then the toss was not proved."""

_DIP_KEPT_S = 0.04
"""How long a dip is kept once it is seen: the first picture of it may be half exposed before it,
and the next may come early. Its whole depth is then measured in a picture wholly inside it."""

_LIGHT_BACK_S = 0.15
"""From the end of one dip to the next: the light must have been seen full in between."""

_NO_ROLL_STILL_S = 0.3
"""A die that is not flat must have lain so for this long. At the top of a tumble, on an edge, it
hardly moves for a tenth of a second, and may yet fall flat; a flat die has nowhere to fall."""

_LEVEL_TOLERANCE = 0.35
"""How far the depth of a dip may be from what earlier dips of this camera let expect."""

_KEPT = 8
"""Observations kept for the report."""


class _Step(enum.Enum):
    IDLE = enum.auto()
    MOVING = enum.auto()
    RESTING = enum.auto()


@frozen(eq=False)
class Finished:
    """A reading that ended, with what the pictures are drawn from."""

    occasion: Occasion
    verdict: Verdict
    t_rest: float | None
    t_dip_seen: float | None
    t_verdict: float
    frame: Frame | None
    """As it is kept, where it was read."""
    seen: Findings | None
    observations: tuple[Observation, ...]
    frames_looked_at: int
    unchanged: bool


@dataclass(slots=True)
class _Dip:
    level: float
    at: float
    """When to ask for it."""
    t_asked: float | None = None
    t_set: float | None = None
    t_seen: float | None = None
    deepest: float = 1.0
    is_restored: bool = False


@dataclass(slots=True)
class _Work:
    occasion: Occasion
    since: float
    scene: StillScene
    """What was read since the dice rest."""
    t_read: float | None = None
    """When the reading was asked for; None: the dice are only followed."""
    t_rest: float | None = None
    is_told: bool = False
    """`Rested` was sent."""
    was_hidden: bool = False
    """There was no picture when it began: the dip waits until nothing moves."""
    at_rest: deque[Frame] = field(default_factory=lambda: deque(maxlen=FRAMES))
    """The newest frames that show rest and were not read yet."""
    dip: _Dip | None = None
    reference: np.ndarray | None = None
    """The last thumbnail in full light."""
    looked: int = 0
    last: tuple[Frame, Findings] | None = None
    """The frame that is kept: the last one that was read, or the one that shows the verdict."""
    looks: deque[tuple[Frame, Findings]] = field(default_factory=lambda: deque(maxlen=FRAMES))
    """The last frames that were read, as they would be kept."""


class TossSession:
    """Steps through one toss at a time. Not thread-safe."""

    def __init__(
        self,
        reader: TableReader,
        send: Callable[[messages.Message], None],
        setup: messages.CameraSetup,
        *,
        chance: random.Random | None = None,
    ) -> None:
        """Of `setup` the session takes its time limits, and the dip's levels and delay."""
        self._reader = reader
        self._send = send
        self._setup = setup
        self._chance = chance or random.SystemRandom()
        self._watch = StillnessDetector(reader.calibration)
        self._step = _Step.IDLE
        self._work: _Work | None = None
        self._previous: tuple[Frame, np.ndarray] | None = None
        """The frame before, and its thumbnail."""
        self._digest: int | None = None
        self._before: tuple[Occasion, tuple[messages.DiePose, ...] | None] | None = None
        self._last_known: tuple[messages.DiePose, ...] | None = None
        """How the dice lie since the last toss; None where nobody has seen it."""
        self._held_back_until = 0.0
        self._exponents: list[float] = []
        self._strange: list[float] = []
        """Of the last dips in a row that were refused."""
        self._memory = TossMemory()

    @property
    def is_reading(self) -> bool:
        return self._step is not _Step.IDLE

    @property
    def wakes_at(self) -> float | None:
        """When `tick` has something to do even without a frame."""
        dip = self._work.dip if self._work is not None else None
        return dip.at if dip is not None and dip.t_asked is None else None

    # ── Requests ────────────────────────────────────────────────────────────

    def begin(
        self, occasion: Occasion, frame: Frame | None, before: tuple[messages.DiePose, ...] | None
    ) -> None:
        """Keep how the dice lie in `frame`; `before` where a restarted process is told.

        Without a frame (covered dice) the last reading counts: nothing has moved them since.
        """
        if self._work is not None and self._work.t_read is None:
            self.end(self._work.occasion)
        if before is None and frame is not None:
            before = poses_of(self._reader.read(frame).dice)
        if before is None:
            before = self._last_known
        self._before = (occasion, before)
        self._send(messages.TossWatched(occasion, before))

    def settle(self, occasion: Occasion, now: float, newest: Frame | None = None) -> None:
        """The motor was switched off: follow the dice, and see to the dip.

        `newest` is the last frame before now. It tells how bright full light is; without it (a
        cover is closed) the first two frames without motion have to, and the dip waits for them.
        """
        if self._work is not None and self._work.occasion == occasion:
            return
        self._restore_light()
        self._last_known = None
        scene = StillScene(self._reader)
        work = self._work = _Work(occasion, now, scene, was_hidden=newest is None)
        self._step = _Step.MOVING
        self._previous = None
        self._digest = None
        if newest is not None:
            work.reference = self._watch.thumbnail(newest.image)
            work.dip = self._plan_dip(now)

    def read(self, occasion: Occasion, now: float, newest: Frame | None = None) -> None:
        """The toss is proved: read as soon as the dice rest. A reading that runs already goes on.

        `newest` as for `settle`, which this includes where it did not come before.
        """
        self.settle(occasion, now, newest)
        if self._work is not None and self._work.t_read is None:
            self._work.t_read = now

    def end(self, occasion: Occasion) -> None:
        """Forget this reading."""
        if self._work is not None and self._work.occasion == occasion:
            self._restore_light()
            if (last := self._work.last) is not None:  # it must not be shown again
                self._memory.keep(_number(occasion), poses_of(last[1].observation.dice))
            self._work = None
            self._step = _Step.IDLE

    def light_dipped(self, occasion: Occasion, t_set: float) -> None:
        work = self._work
        if work is not None and work.occasion == occasion and work.dip is not None:
            work.dip.t_set = t_set

    # ── Time and frames ─────────────────────────────────────────────────────

    def tick(self, now: float) -> Finished | None:
        """Ask for the dip when its moment has come; end what took too long."""
        work, setup = self._work, self._setup
        if work is None:
            return None
        dip = work.dip
        if dip is not None and dip.t_asked is None and now >= dip.at:
            dip.t_asked = now
            self._send(messages.DipLight(work.occasion, dip.level))
        if work.t_read is None:
            if now > work.since + _FOLLOWED_S:
                self.end(work.occasion)
            return None
        if dip is not None and dip.t_asked is not None and dip.t_seen is None:
            start = dip.t_set if dip.t_set is not None else dip.t_asked + _DIP_COMMAND_S
            if now > start + setup.dip_seen_within_s:
                self._held_back_until = now + _HOLD_BACK_S
                return self._finish(
                    Unreadable(
                        Reason.NO_DIP,
                        f"the ring light dipped to {dip.level:.2f} and no picture showed it within "
                        f"{setup.dip_seen_within_s:g} s: the stream is late, looped, or the light "
                        "is not obeying",
                    ),
                    now,
                )
        if work.t_rest is None:
            if now - work.t_read > setup.rest_timeout_s:
                return self._finish(
                    Unreadable(
                        Reason.MOVING, f"no rest within {setup.rest_timeout_s:g} s of the stop"
                    ),
                    now,
                )
            return None
        if now - work.t_read > setup.rest_timeout_s + setup.read_timeout_s or (
            now - max(work.t_rest, work.t_read) > setup.read_timeout_s
        ):
            return self._finish(refuse(work.scene.observations), now)
        return None

    def see(self, frame: Frame, now: Callable[[], float]) -> Finished | None:
        """Take the next frame; the verdict, if this frame completed it."""
        work = self._work
        if work is None:
            return None
        fingerprint = digest(frame.image)
        if fingerprint == self._digest:
            return self.tick(now())  # the same picture again proves nothing
        self._digest = fingerprint
        thumbnail = self._watch.thumbnail(frame.image)
        previous, self._previous = self._previous, (frame, thumbnail)
        if work.reference is None or frame.t_capture < work.since:
            work.reference = thumbnail
        if work.dip is None and not work.was_hidden:
            work.dip = self._plan_dip(now())
            self.tick(now())
        if previous is None or frame.t_capture < work.since:
            return self.tick(now())
        before, thumbnail_before = previous
        has_moved = self._watch.has_moved(thumbnail_before, thumbnail)
        if has_moved and self._step is _Step.RESTING:
            self._start_over(work, now())
        if work.dip is None and work.was_hidden:
            work.reference = thumbnail
            if not has_moved:
                work.dip = self._plan_dip(now())
                self.tick(now())
        self._look_for_dip(work, frame, thumbnail, now())
        if not has_moved:
            self._rest(work, before, frame)
        return self.catch_up(now) or self.tick(now())

    def catch_up(self, now: Callable[[], float]) -> Finished | None:
        """Read the frames at rest that came so far; the verdict, if they complete it.

        Called with every frame, and once right after `read`: the dice may rest since before.
        """
        work = self._work
        if work is None or work.t_read is None or not work.at_rest:
            return None
        if not work.is_told and not self._is_of_this_toss(work, now()):
            return None
        if not work.is_told:
            self._tell(work)
        while work.at_rest:
            frame = work.at_rest.popleft()
            if self._counts(work, frame):
                self._look(work, frame)
        return self._conclude(work, now)

    def _plan_dip(self, now: float) -> _Dip:
        wait = max(self._chance.uniform(0.0, self._setup.dip_delay_s), self._held_back_until - now)
        level = self._chance.uniform(self._setup.dip_level_low, self._setup.dip_level_high)
        return _Dip(level, now + wait)

    def _rest(self, work: _Work, before: Frame, frame: Frame) -> None:
        """`before` and `frame` show the same: at the latest since `before` the dice rest."""
        if self._step is _Step.MOVING:
            self._step = _Step.RESTING
            work.t_rest = max(before.t_capture, work.since)
            work.at_rest.append(before)
        work.at_rest.append(frame)

    def _is_of_this_toss(self, work: _Work, now: float) -> bool:
        """Whether the first frame at rest counts, which is proved by the dip; others are dropped.

        A stream that lags shows the dice as they lay before: that must never disprove a toss.
        """
        dip = work.dip
        t_dip = None if dip is None else dip.t_seen
        if t_dip is not None and work.at_rest[-1].t_capture > t_dip + _DIP_HOLDS_S:
            work.dip = self._plan_dip(now)
            self.tick(now)
        while work.at_rest and not self._counts(work, work.at_rest[0]):
            work.at_rest.popleft()
        return bool(work.at_rest)

    def _lay_before(self, work: _Work) -> tuple[messages.DiePose, ...] | None:
        """How the dice lay before this toss; None where nobody knows."""
        return self._before[1] if self._before and self._before[0] == work.occasion else None

    def _tell(self, work: _Work) -> None:
        """Say that the dice rest, and whether they lie otherwise than before the toss."""
        work.is_told = True
        seen = self._look(work, work.at_rest.popleft())
        dice = seen.observation.dice
        known = self._lay_before(work)
        changed = is_proved = None
        if known is not None:
            poses = poses_of(dice)
            changed = poses_changed(
                [(die.x_mm, die.y_mm, die.turn_deg) for die in known],
                [(die.x_mm, die.y_mm, die.turn_deg) for die in poses],
            )
            is_proved = _is_proved(len(known), len(poses), changed)
        assert work.t_rest is not None
        self._send(messages.Rested(work.occasion, work.t_rest, len(dice), changed, is_proved))

    def _start_over(self, work: _Work, now: float) -> None:
        """Something moved after all: whatever was read does not count, and the dip neither.

        Before `read` this is how settling looks, the cam swinging back included: the dip goes on.
        """
        self._step = _Step.MOVING
        work.t_rest, work.is_told = None, False
        work.at_rest.clear()
        work.scene = StillScene(self._reader)
        if work.t_read is None:
            return
        if work.dip is not None and work.dip.t_asked is not None:
            self._held_back_until = max(self._held_back_until, now + _LIGHT_BACK_S)
        self._restore_light()
        work.dip = None

    def _look_for_dip(self, work: _Work, frame: Frame, thumbnail: np.ndarray, now: float) -> None:
        """Follow the light: before the dip, into it, and how deep it gets."""
        dip, reference = work.dip, work.reference
        if dip is None or reference is None:
            return
        ratio = self._watch.light_ratio(reference, thumbnail)
        if dip.t_seen is not None:
            dip.deepest = min(dip.deepest, ratio)
            if frame.t_capture > dip.t_seen + _DIP_KEPT_S:
                self._restore_light()
        elif dip.t_asked is not None and frame.t_capture >= dip.t_asked:
            if ratio < _DIP_SEEN_RATIO:
                dip.t_seen = frame.t_capture
                dip.deepest = ratio
        elif ratio < _DIP_SEEN_RATIO:
            # The light changed, and not because of us: it has to be full before it can dip.
            self._start_over(work, now)
            work.dip = None
            work.reference = thumbnail
        else:
            work.reference = thumbnail

    @staticmethod
    def _counts(work: _Work, frame: Frame) -> bool:
        """True for a frame at rest of this toss: by the dip, and taken with the shaker still."""
        dip = work.dip
        return (
            dip is not None
            and dip.t_seen is not None
            and work.t_read is not None
            and frame.t_capture >= max(dip.t_seen, work.t_read - _LOOK_BACK_S)
        )

    def _look(self, work: _Work, frame: Frame) -> Findings:
        frame = kept(frame)
        seen = work.scene.look(frame)
        work.looked += 1
        work.last = (frame, seen)
        work.looks.append(work.last)
        return seen

    def _conclude(self, work: _Work, now: Callable[[], float]) -> Finished | None:
        """The verdict, once enough observations agree and the dip was as deep as asked for."""
        dip = work.dip
        if dip is None:
            return None
        consensus = agree(work.scene.observations)
        if consensus is None or work.t_rest is None:
            return None
        newest = work.scene.observations[-1]
        still_s = newest.t_capture - work.t_rest
        if isinstance(consensus.verdict, NoRoll) and still_s < _NO_ROLL_STILL_S:
            return None
        if not self._is_our_dip(dip):
            self._held_back_until = now() + _HOLD_BACK_S
            return self._finish(
                Unreadable(
                    Reason.NO_DIP,
                    f"the picture darkened to {dip.deepest:.2f} of full light, which is not what "
                    f"a dip to {dip.level:.2f} looks like",
                ),
                now(),
            )
        poses = poses_of(newest.dice)
        number = _number(work.occasion)
        if recording := self._recording(number, poses, self._lay_before(work) or ()):
            return self._finish(Unreadable(Reason.LOOPED, recording), now())
        work.last = next(
            (look for look in work.looks if look[1].observation is consensus.shown_by), work.last
        )
        return self._finish(consensus.verdict, now())

    def _recording(
        self, number: int, poses: Sequence[messages.DiePose], before: Sequence[messages.DiePose]
    ) -> str:
        """Why the pictures may be a recording of earlier tosses; empty: they show new poses."""
        earlier = self._memory.seen_before(number, poses, before)
        if earlier is not None:
            return (
                f"the three dice lie to each other as in toss {earlier}; no motor does that: "
                "the pictures may be a recording"
            )
        parts = self._memory.put_together(number, poses, before)
        if parts is not None:
            return (
                f"each die lies just where one lay in the tosses {', '.join(map(str, parts))}; no "
                "motor does that: the pictures may be put together from recordings"
            )
        return ""

    def _is_our_dip(self, dip: _Dip) -> bool:
        """True if the dip is as deep as its level lets expect: a replayed one has another level.

        How a camera answers (gamma, daylight) is learned from the dips before: brightness is
        about level to some power. Where three dips in a row differ from those before, but not from
        each other, the room's light has changed: dips from then on are compared with these.
        """
        exponent = float(np.log(max(dip.deepest, 1e-3)) / np.log(dip.level))
        usual = float(np.median(self._exponents)) if len(self._exponents) >= 3 else None
        if usual is not None and abs(exponent - usual) > _LEVEL_TOLERANCE * usual:
            self._strange = [*self._strange[-2:], exponent]
            most = _LEVEL_TOLERANCE * min(self._strange)
            if len(self._strange) == 3 and max(self._strange) - min(self._strange) < most:
                self._exponents, self._strange = self._strange, []
            return False
        self._strange = []
        self._exponents = [*self._exponents[-20:], exponent]
        return True

    def _restore_light(self) -> None:
        dip = self._work.dip if self._work is not None else None
        if self._work is not None and dip is not None and not dip.is_restored:
            dip.is_restored = True
            if dip.t_asked is not None:
                self._send(messages.RestoreLight(self._work.occasion))

    def _finish(self, verdict: Verdict, now: float) -> Finished:
        work = self._work
        assert work is not None
        self._restore_light()
        poses = poses_of(work.last[1].observation.dice) if work.last is not None else None
        newest = None if self._previous is None else self._previous[0]
        before = self._lay_before(work)
        finished = Finished(
            occasion=work.occasion,
            verdict=verdict,
            t_rest=work.t_rest,
            t_dip_seen=None if work.dip is None else work.dip.t_seen,
            t_verdict=now,
            frame=newest if work.last is None else work.last[0],
            seen=None if work.last is None else work.last[1],
            observations=tuple(work.scene.observations[-_KEPT:]),
            frames_looked_at=work.looked,
            unchanged=poses is not None and before is not None and is_unchanged(before, poses),
        )
        if poses is not None:
            self._last_known = poses
            self._memory.keep(_number(work.occasion), poses)
        self._work = self._previous = None
        self._step = _Step.IDLE
        return finished


def poses_of(dice: Sequence[DieEvidence]) -> tuple[messages.DiePose, ...]:
    """How the dice of one observation lie; a value only where both readers say the same."""
    poses = []
    for die in dice:
        model = die.model.value if die.model is not None else None
        second = die.second.value if die.second is not None else None
        poses.append(
            messages.DiePose(die.x_mm, die.y_mm, die.turn_deg, model if model == second else None)
        )
    return tuple(poses)


def _is_proved(before: int, after: int, changed: int) -> bool | None:
    """See `Rested.is_proved`; how many were seen before and after, and how many of these lie
    elsewhere. A die out of sight may have moved or not, and what is seen beyond three is none: a
    camera that sees too few or too many says nothing of the shaker."""
    if after - changed > max(0, after - DICE):
        return False
    return True if before == after == DICE else None


def _number(occasion: Occasion) -> int:
    """A toss of its own for each occasion: rounds are counted apart from inspections and trials."""
    return occasion.number if occasion.purpose is Purpose.PLAY else -occasion.number


def is_unchanged(before: Sequence[messages.DiePose], after: Sequence[messages.DiePose]) -> bool:
    """All three dice lie as before and show what they showed: the toss did not happen (O-21)."""
    return len(before) == len(after) == DICE and all(
        any(
            new.value == old.value
            and is_same_pose((old.x_mm, old.y_mm, old.turn_deg), (new.x_mm, new.y_mm, new.turn_deg))
            for old in before
        )
        for new in after
    )
