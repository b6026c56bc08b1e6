"""One toss through the camera's eyes, with drawn frames and no clock but theirs."""

from __future__ import annotations

import random
from dataclasses import replace

import cv2
import numpy as np
import pytest

from shaker_ctl.reading.messages import DiePose, DipLight, Rested, RestoreLight, TossWatched
from shaker_ctl.reading.parameters import CameraParameters
from shaker_ctl.reading.toss_session import TossSession
from shaker_ctl.rules.vocabulary import play
from vision.frame import Frame
from vision.reading import NoRoll, Reason, Unreadable, Verified
from vision.tests.drawing import Die
from vision.tests.taught_table import STEREO, frame, table, taught
from vision.tests.truth import TruthFinder

BEFORE = [Die(-20, -10, 15, 6), Die(8, 20, 50, 3), Die(25, -15, 80, 1)]
AFTER = [Die(-10, -20, 70, 2), Die(-18, 18, 10, 2), Die(22, 5, 35, 5)]
BUTTON = Die(0, -32, 0, 1)
"""Something that is none of the three and is taken for a die."""
PERIOD_S = 1 / 30


class Table:
    """Frames, light and time of a drawn table around a session."""

    def __init__(
        self, *, obeys=True, lag_s=0.0, dip_delay_s=0.02, rest_timeout_s=1.0, read_timeout_s=1.0
    ):
        self.now = 100.0
        self.sent = []
        self.light = 1.0
        self.obeys = obeys
        self.lag_s = lag_s
        self.past = []
        self.sequence = 0
        self.reader = table(taught(), [])
        self.session = TossSession(
            self.reader,
            self.hear,
            replace(
                CameraParameters().setup(),
                calibration=STEREO.to_table(),
                rest_timeout_s=rest_timeout_s,
                read_timeout_s=read_timeout_s,
                dip_delay_s=dip_delay_s,
            ),
            chance=random.Random(5),
        )

    def hear(self, message):
        self.sent.append(message)
        if isinstance(message, DipLight) and self.obeys:
            self.light = message.level
            self.session.light_dipped(message.occasion, self.now)
        elif isinstance(message, RestoreLight):
            self.light = 1.0

    def of(self, kind):
        return [message for message in self.sent if isinstance(message, kind)]

    def frame(self, dice, light=None):
        """The next picture of these dice; with a lag, an older one."""
        self.now += PERIOD_S
        self.sequence += 1
        brightness = (self.light if light is None else light) ** 0.45  # a camera's gamma
        image = frame(dice, self.sequence, light=brightness, jpeg=None).image
        self.past.append((self.now, image, list(dice)))
        shown = [p for p in self.past if p[0] <= self.now - self.lag_s + 1e-9] or self.past[:1]
        _, image, lying = shown[-1]
        self.reader._finder = TruthFinder(lying, view=self.reader.view, calibration=STEREO)
        return Frame(image, self.now, self.sequence)

    def watch(self, frames):
        """Feed frames until there is an end."""
        for dice in frames:
            finished = self.session.see(self.frame(dice), lambda: self.now)
            if finished is not None:
                return finished
        return None

    def begin(self, toss_id=1, dice=BEFORE):
        self.newest = self.frame(dice)
        self.session.begin(play(toss_id), self.newest, None)

    def toss(self, toss_id=1, dice=BEFORE):
        """Begin, and ask for the reading at once."""
        self.begin(toss_id, dice)
        self.read(toss_id)

    def settle(self, toss_id=1):
        """The motor was switched off."""
        self.session.settle(play(toss_id), self.now, self.newest)

    def read(self, toss_id=1):
        """Ask for a reading as the camera process does: with the newest frame at hand."""
        self.session.read(play(toss_id), self.now, self.newest)


def why(finished):
    """Why a reading was refused."""
    assert finished is not None
    assert isinstance(finished.verdict, Unreadable)
    return finished.verdict.reason


def tumbling(count):
    return [
        [Die(d.x + 7 * i, d.y - 5 * i, d.turn_deg + 20 * i, d.value) for d in BEFORE]
        for i in range(1, count + 1)
    ]


def test_a_toss_is_watched_proved_dipped_and_verified():
    table = Table()
    table.begin()
    assert len(table.of(TossWatched)[0].before) == 3
    table.session.read(play(1), table.now)
    finished = table.watch([*tumbling(2), *[AFTER] * 12])
    assert finished is not None
    assert finished.verdict == Verified((2, 2, 5), finished.verdict.confidence)
    rested = table.of(Rested)[0]
    assert (rested.dice, rested.poses_changed, rested.is_proved) == (3, 3, True)
    assert len(finished.observations) >= 3
    proved = max(finished.t_rest, finished.t_dip_seen)
    assert all(o.t_capture >= proved for o in finished.observations)
    assert not finished.unchanged
    assert table.light == 1.0
    assert len(table.of(DipLight)) == len(table.of(RestoreLight)) == 1


def test_the_file_that_is_kept_of_a_toss_shows_what_was_read():
    table = Table()
    table.toss()
    finished = table.watch([*tumbling(2), *[AFTER] * 12])
    assert finished is not None
    kept = cv2.imdecode(np.frombuffer(finished.frame.jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert kept is not None
    assert np.array_equal(kept, finished.frame.image)
    again = table.reader.read(Frame(kept))
    assert again.opinion == finished.seen.observation.opinion


def test_the_dip_is_over_before_the_dice_settle_and_three_frames_at_rest_suffice():
    table = Table(dip_delay_s=0.0)
    table.toss()
    finished = table.watch([*tumbling(4), *[AFTER] * 12])
    assert finished.verdict == Verified((2, 2, 5), finished.verdict.confidence)
    assert finished.t_dip_seen < finished.t_rest
    assert [o.t_capture >= finished.t_rest for o in finished.observations] == [True] * 3
    assert finished.t_verdict - finished.t_rest == pytest.approx(2 * PERIOD_S)


def test_dice_that_rest_before_the_toss_is_proved_are_read_at_once_from_then_on(monkeypatch):
    table = Table(dip_delay_s=0.0)
    table.begin()
    table.settle()
    look = table.reader.look
    monkeypatch.setattr(table.reader, "look", None)  # followed, not read
    assert table.watch([*tumbling(4), *[AFTER] * 5]) is None
    assert not table.of(Rested)
    assert len(table.of(DipLight)) == len(table.of(RestoreLight)) == 1
    monkeypatch.setattr(table.reader, "look", look)
    table.read()
    finished = table.session.catch_up(lambda: table.now)
    assert finished is not None
    assert isinstance(finished.verdict, Verified)
    assert finished.verdict.values == (2, 2, 5)
    assert len(table.of(Rested)) == 1
    assert all(o.t_capture >= table.now - 0.1 for o in finished.observations)


def test_frames_older_than_the_tachs_silence_do_not_count():
    table = Table(dip_delay_s=0.0)
    table.begin()
    table.settle()
    table.watch([*tumbling(4), *[AFTER] * 5])
    table.now += 0.5  # the stream stops, and the reading is asked for late
    table.read()
    assert table.session.catch_up(lambda: table.now) is None
    finished = table.watch([AFTER] * 6)
    assert isinstance(finished.verdict, Verified)
    assert all(o.t_capture >= finished.t_verdict - 0.2 for o in finished.observations)


def test_a_toss_that_is_never_proved_is_followed_no_longer_than_it_could_be():
    table = Table()
    table.begin()
    table.settle()
    assert table.watch([AFTER] * 120) is None
    assert not table.session.is_reading
    assert table.light == 1.0
    assert not table.of(Rested)


def test_the_next_toss_ends_what_was_followed_of_the_last():
    table = Table(obeys=True, dip_delay_s=0.0)
    table.begin()
    table.settle()
    table.watch([AFTER])
    table.begin(2, AFTER)
    assert not table.session.is_reading
    assert table.light == 1.0


def test_dice_that_settle_long_after_the_dip_are_dipped_again():
    table = Table(dip_delay_s=0.0, rest_timeout_s=3.0)
    table.toss()
    finished = table.watch([*tumbling(40), *[AFTER] * 12])
    assert isinstance(finished.verdict, Verified)
    assert len(table.of(DipLight)) == 2
    assert finished.t_rest < finished.t_dip_seen


def test_light_that_changes_by_itself_before_the_dip_proves_nothing():
    table = Table(dip_delay_s=0.5)
    table.toss()
    work = table.session._work
    assert work is not None
    assert work.dip is not None
    work.dip.at = table.now + 0.3
    for light in (1.0, 0.6, 0.6, 1.0, 1.0):
        assert table.session.see(table.frame(AFTER, light), lambda: table.now) is None
    assert not table.of(DipLight)


def test_nothing_is_read_before_rest_and_motion_ends_unreadable():
    table = Table()
    table.toss()
    finished = table.watch(tumbling(8) * 5)
    assert why(finished) is Reason.MOVING
    assert not table.of(Rested)


@pytest.mark.parametrize(("lag_s", "tumbles"), [(0.5, 12), (1.0, 1), (1.0, 25)])
def test_a_late_stream_is_refused_though_its_dip_comes_in_the_end(lag_s, tumbles):
    table = Table(lag_s=lag_s)
    table.toss()
    first = table.watch([*tumbling(tumbles), *[AFTER] * 50])
    assert isinstance(first.verdict, Unreadable)
    table.session.read(play(1), table.now)
    second = table.watch([AFTER] * 80)
    assert isinstance(second.verdict, Unreadable)


def test_last_rounds_dice_in_a_still_picture_are_no_toss():
    table = Table()
    table.toss()
    finished = table.watch([BEFORE] * 12)
    assert finished.unchanged
    rested = table.of(Rested)[0]
    assert rested.poses_changed == 0
    assert rested.is_proved is False


def test_dice_of_two_tosses_put_together_are_a_recording():
    table = Table()
    mixed = [AFTER[0], AFTER[1], BEFORE[2]]
    for toss_id, (before, after) in enumerate([(BEFORE, AFTER), (AFTER, BEFORE), (BEFORE, mixed)]):
        table.toss(toss_id, before)
        finished = table.watch([*tumbling(2), *[after] * 20])
    assert why(finished) is Reason.LOOPED
    assert "put together" in finished.verdict.detail


def test_the_last_toss_that_was_read_is_a_recording_when_another_was_entered_since():
    entered = [Die(-d.x, -d.y, d.turn_deg, 7 - d.value) for d in AFTER]
    table = Table()
    for toss_id, before, after in ((1, BEFORE, AFTER), (2, AFTER, entered), (3, entered, AFTER)):
        table.obeys = toss_id != 2
        table.toss(toss_id, before)
        finished = table.watch([*tumbling(2), *[after] * 40])
        assert finished is not None
        assert isinstance(finished.verdict, Verified) == (toss_id == 1)
        table.now += 3.0
    assert finished.verdict.reason is Reason.LOOPED
    assert "to each other as in toss 1" in finished.verdict.detail


def test_one_die_that_never_moved_is_no_proof_of_a_toss():
    table = Table()
    table.toss()
    table.watch([*tumbling(1), *[[BEFORE[0], *AFTER[1:]]] * 12])
    assert table.of(Rested)[0].poses_changed == 2
    assert table.of(Rested)[0].is_proved is False


@pytest.mark.parametrize(
    ("before", "after", "changed", "is_proved"),
    [
        ([], [], 0, None),
        (BEFORE, [], 0, None),
        ([], AFTER, 3, None),
        (BEFORE[:2], AFTER, 3, None),
        (BEFORE[:1], BEFORE[:1], 0, False),
        (BEFORE[:2], [BEFORE[0], *AFTER[1:]], 2, False),
        ([*BEFORE, BUTTON], [*AFTER, BUTTON], 3, None),
        ([*BEFORE, BUTTON], [*BEFORE, BUTTON], 0, False),
    ],
)
def test_dice_out_of_sight_say_nothing_of_the_shaker(before, after, changed, is_proved):
    table = Table(read_timeout_s=0.3)
    table.begin(dice=before)
    table.session.read(play(1), table.now)
    finished = table.watch([*tumbling(2), *[after] * 30])
    rested = table.of(Rested)[0]
    assert (rested.poses_changed, rested.is_proved) == (changed, is_proved)
    assert not finished.unchanged
    assert isinstance(finished.verdict, Verified) == (len(after) == 3)


def test_a_tilted_die_ends_as_no_roll():
    table = Table()
    table.toss()
    cocked = [AFTER[0], Die(-18, 18, 10, 2, tilt_deg=15, tilt_axis_deg=40), AFTER[2]]
    finished = table.watch([*tumbling(1), *[cocked] * 12])
    assert isinstance(finished.verdict, NoRoll)


def test_a_die_that_stands_on_its_edge_for_a_moment_may_still_fall_flat():
    table = Table()
    table.toss()
    poised = [AFTER[0], Die(-18, 18, 10, 2, tilt_deg=15, tilt_axis_deg=40), AFTER[2]]
    finished = table.watch([*tumbling(1), *[poised] * 6, *tumbling(1), *[AFTER] * 12])
    assert isinstance(finished.verdict, Verified)


def test_the_same_picture_over_and_over_proves_nothing():
    table = Table()
    table.toss()
    frozen = table.frame(AFTER)
    finished = None
    for _ in range(60):
        table.now += PERIOD_S
        finished = table.session.see(frozen, lambda: table.now)
        if finished is not None:
            break
    assert finished is not None
    assert isinstance(finished.verdict, Unreadable)
    assert not table.of(Rested)


def test_a_die_that_falls_over_after_rest_starts_everything_anew():
    table = Table()
    table.begin()
    table.session.read(play(1), table.now)
    late = [AFTER[0], AFTER[1], Die(24, 7, 80, 4)]
    finished = table.watch([*tumbling(1), *[AFTER] * 4, *[late] * 12])
    assert finished.verdict == Verified((2, 2, 4), finished.verdict.confidence)
    assert len(table.of(Rested)) == 2


def test_poses_of_a_restarted_process_come_from_its_predecessor():
    table = Table()
    told = tuple(DiePose(d.x, d.y, d.turn_deg % 90, d.value) for d in AFTER)
    table.session.begin(play(7), None, told)
    table.session.read(play(7), table.now)
    table.watch([AFTER] * 12)
    assert table.of(Rested)[0].poses_changed == 0


def test_covered_dice_are_taken_to_lie_as_last_read():
    table = Table()
    table.toss()
    table.watch([*tumbling(1), *[AFTER] * 12])
    table.session.begin(play(2), None, None)
    assert len(table.of(TossWatched)[-1].before) == 3


def test_poses_of_the_toss_before_the_last_say_nothing():
    table = Table()
    table.toss()
    assert table.watch([*tumbling(2), *[AFTER] * 12]) is not None
    table.toss(2, AFTER)
    table.session.end(play(2))
    table.session.begin(play(3), None, None)
    assert table.of(TossWatched)[-1].before is None


def test_an_ended_reading_gives_the_light_back_and_no_verdict():
    table = Table()
    table.session.read(play(3), table.now)
    table.watch([AFTER] * 4)
    table.session.end(play(3))
    assert not table.session.is_reading
    assert table.light == 1.0
    assert table.watch([AFTER] * 10) is None


def test_a_toss_whose_reading_was_ended_is_a_recording_when_it_is_shown_again():
    table = Table()
    for toss_id, (before, after) in enumerate([(BEFORE, AFTER), (AFTER, BEFORE), (BEFORE, AFTER)]):
        table.toss(toss_id, before)
        finished = None
        for dice in [*tumbling(2), *[after] * 20]:
            finished = table.session.see(table.frame(dice), lambda: table.now)
            work = table.session._work
            if toss_id == 0 and work is not None and work.last is not None:
                table.session.end(play(0))
                break
            if finished is not None:
                break
    assert why(finished) is Reason.LOOPED


def test_dips_that_agree_after_the_rooms_light_changed_are_learned_anew(monkeypatch):
    table, verdicts = Table(), []
    plain = table.frame

    def frame(dice, light=None):
        """As `Table.frame`, with daylight until the fifth toss."""
        lamp = table.light if light is None else light
        return plain(dice, light=lamp if toss >= 4 else 0.5 + 0.5 * lamp)

    monkeypatch.setattr(table, "frame", frame)
    for toss in range(9):
        lying = [Die(d.x, d.y, d.turn_deg + 9 * toss, d.value) for d in AFTER]
        table.now += 30.0  # a refused dip holds the next reading back
        table.session.read(play(toss), table.now)
        verdicts.append(table.watch([lying] * 25).verdict)
    assert all(isinstance(each, Verified) for each in verdicts[:4])
    assert {each.reason for each in verdicts[4:7]} == {Reason.NO_DIP}
    assert all(isinstance(each, Verified) for each in verdicts[7:])


def test_a_dip_of_another_depth_than_asked_for_is_not_ours():
    table = Table()
    for toss in range(4):
        lying = [Die(d.x, d.y, d.turn_deg + 11 * toss, d.value) for d in AFTER]
        table.session.read(play(toss), table.now)
        assert isinstance(table.watch([lying] * 14).verdict, Verified)
    table.obeys = False
    table.session.read(play(9), table.now)
    finished = None
    for number in range(40):
        is_dipped = table.of(DipLight)[-1].occasion == play(9) and number < 12
        light = 0.86 if is_dipped else 1.0
        finished = table.session.see(table.frame(AFTER, light), lambda: table.now)
        if finished is not None:
            break
    assert why(finished) is Reason.NO_DIP


def test_after_a_dip_that_nobody_saw_the_next_one_waits():
    """Whoever shows a recording shall not see at once what the next dip looks like."""
    table = Table(rest_timeout_s=5.0, read_timeout_s=5.0)
    table.obeys = False
    table.session.read(play(1), table.now)
    finished = table.watch([*tumbling(2), *[AFTER] * 60])
    assert finished.verdict.reason is Reason.NO_DIP
    missed, table.obeys = table.now, True
    table.session.read(play(2), table.now)
    for dice in [*tumbling(2), *[BEFORE] * 90]:
        table.session.see(table.frame(dice), lambda: table.now)
        table.session.tick(table.now)
        if table.of(DipLight)[-1].occasion == play(2):
            break
    assert table.of(DipLight)[-1].occasion == play(2)
    assert table.now - missed >= 2.0


def test_a_cover_that_leaves_the_picture_is_no_dip_and_the_dip_waits_for_it():
    table = Table(dip_delay_s=0.0)
    table.begin()
    table.session.settle(play(1), table.now, None)
    table.session.read(play(1), table.now, None)
    for open_share in (0.15, 0.3, 0.45, 0.6, 0.75):
        frame = table.frame(AFTER)
        for lens in np.hsplit(frame.image, 2):
            lens[:, int(lens.shape[1] * open_share) :] = 30
        assert table.session.see(frame, lambda: table.now) is None
    assert not table.of(DipLight)
    finished = table.watch([AFTER] * 12)
    assert finished.verdict == Verified((2, 2, 5), finished.verdict.confidence)
    assert len(table.of(DipLight)) == 1
