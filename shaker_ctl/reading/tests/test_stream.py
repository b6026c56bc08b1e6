"""A live stream is left alone; a frozen and a looped one are recognised."""

from __future__ import annotations

from shaker_ctl.reading import stream
from shaker_ctl.reading.stream import FROZEN_FRAMES, LOOPED_FRAMES, StreamMemory


def test_a_live_stream_is_neither_frozen_nor_looped():
    memory = StreamMemory()
    assert all(memory.take(i) == (0, 0) for i in range(200))


def test_a_frozen_stream_counts_its_repetitions():
    memory = StreamMemory()
    counts = [memory.take(7)[0] for _ in range(FROZEN_FRAMES + 1)]
    assert counts[0] == 0
    assert counts[-1] == FROZEN_FRAMES


def test_a_recording_that_starts_again_is_looped_within_a_few_frames():
    memory = StreamMemory()
    for i in range(60):
        memory.take(i)
    assert [memory.take(i)[1] for i in range(LOOPED_FRAMES)][-1] == LOOPED_FRAMES


def test_one_picture_that_comes_again_soon_is_no_loop():
    memory = StreamMemory()
    for fingerprint in (1, 2, 3, 2, 4, 5):
        assert memory.take(fingerprint)[1] == 0


def test_the_oldest_pictures_are_forgotten_first(monkeypatch):
    monkeypatch.setattr(stream, "_REMEMBERED", 100)
    memory = StreamMemory()
    for i in range(150):
        memory.take(i)
    assert memory.take(49) == (0, 0)
    assert [memory.take(i)[1] for i in (51, 52)] == [1, 2]
    assert memory.take(0xFFFF_FFFF) == (0, 0)
