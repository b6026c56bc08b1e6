"""The line editor on what PuTTY, minicom, picocom and miniterm send, and on what nobody sends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaker_ctl.console.editor import HISTORY, WIDTH, Interrupt, LineEditor, TypedLine


def editor() -> LineEditor:
    made = LineEditor(200, lambda text: [w for w in ("status", "statistics") if w.startswith(text)])
    made.prompt = "> "
    return made


def typed(*pieces: bytes) -> str:
    made = editor()
    events = [event for piece in pieces for event in made.feed(piece)]
    assert isinstance(events[-1], TypedLine)
    return events[-1].text


class Screen:
    """One line of a terminal of 80 columns: enough to see what a person would."""

    def __init__(self) -> None:
        self.cells: list[str] = []
        self.at = 0

    def write(self, text: str) -> None:
        for char in text:
            if char == "\r":
                self.at = 0
            elif char == "\n":
                self.cells, self.at = [], 0
            elif char == "\b":
                self.at -= 1
            elif char != "\a":
                assert char.isprintable(), "a terminal program may show this as letters"
                assert self.at < WIDTH, "it ran over the edge of the screen"
                self.cells[self.at : self.at + 1] = [char]
                self.at += 1

    @property
    def line(self) -> str:
        return "".join(self.cells).rstrip()


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (b"status\r", "status"),
        (b"statux\x7fs\r", "status"),
        (b"statux\x08s\r", "status"),
        (b"tatus\x1b[Hs\r", "status"),
        (b"tatus\x1b[1~s\r", "status"),
        (b"tatus\x1bOHs\r", "status"),
        (b"tatus\x01s\r", "status"),
        (b"statuss\x1b[D\x1b[3~\r", "status"),
        (b"ttatus\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x7fs\x05!\r", "status!"),
        (b"garbage\x15status\r", "status"),
        (b"one two\x17three\r", "one three"),
        (b"status now\x02\x02\x02\x02\x0b\r", "status"),
        (b"sta\x1b[1;5Dtus\r", "sttusa"),
        ("name José\r".encode(), "name José"),
        (b"statu\t\r", "status "),
    ],
)
def test_keys_edit_the_line(keys: bytes, text: str) -> None:
    assert typed(keys) == text
    assert typed(*(keys[i : i + 1] for i in range(len(keys)))) == text


@pytest.mark.parametrize("end", [b"\r", b"\n", b"\r\n"])
def test_every_kind_of_enter_ends_one_line(end: bytes) -> None:
    assert editor().feed(b"status" + end + b"faults" + end) == [
        TypedLine("status"),
        TypedLine("faults"),
    ]


@given(
    st.lists(
        st.sampled_from(
            [b"a", b"b ", b"\x7f", b"\x1b[D", b"\x1b[C", b"\x01", b"\x05", b"\x17", b"\x1b[3~",
             b"\x1b[A", b"\x1b[B", b"x" * 40, b"\x0b", b"\x0c"]
        ),
        max_size=60,
    )
)  # fmt: skip
def test_the_cursor_never_leaves_the_screen_line(keys: list[bytes]) -> None:
    made, screen = editor(), Screen()
    made.remember("an older line")
    made.show_prompt()
    for key in keys:
        made.feed(key)
        screen.write(made.take_output())
        assert screen.line.startswith(">")
    events = made.feed(b"\r")
    assert isinstance(events[0], TypedLine)
    assert screen.line[2:] in events[0].text


def test_history_holds_only_what_it_was_given_and_is_bounded() -> None:
    made = editor()
    made.feed(b"never remembered\r")
    for number in range(HISTORY + 20):
        made.remember(f"line {number}")
    assert len(made.history()) == HISTORY
    assert made.feed(b"\x1b[A\x1b[A\x1b[B\r") == [TypedLine(f"line {HISTORY + 19}")]


def test_a_silent_line_shows_nothing_and_recalls_nothing() -> None:
    made = editor()
    made.remember("an older line")
    made.is_silent = True
    assert made.feed(b"se\x1b[Acret\t\x01\x0c\r") == [TypedLine("secret")]
    shown = made.take_output()
    assert not any(letter in shown for letter in "secrt")


def test_ctrl_c_drops_the_line_and_ctrl_d_ends_only_an_empty_one() -> None:
    made = editor()
    assert made.feed(b"bets\x03\r") == [Interrupt(), TypedLine("")]
    assert made.feed(b"x\x04") == []
    made.reset()
    assert made.feed(b"\x04") == [Interrupt(is_end=True)]


@pytest.mark.parametrize(
    "noise", [b"\x00", b"\xff", b"\xc3(", b"\x1bq", b"\x90", b"\x1b[" + b"9" * 20]
)
def test_noise_marks_the_line(noise: bytes) -> None:
    (line,) = editor().feed(b"be" + noise + b"ts\r")
    assert isinstance(line, TypedLine)
    assert not line.is_clean


def test_a_line_that_is_too_long_is_cut_and_marked() -> None:
    (line,) = editor().feed(b"x" * 100_000 + b"\r")
    assert isinstance(line, TypedLine)
    assert not line.is_whole
    assert len(line.text) == 200


@given(st.lists(st.binary(max_size=40), max_size=30))
def test_any_bytes_leave_a_working_editor(pieces: list[bytes]) -> None:
    made = editor()
    for piece in pieces:
        for event in made.feed(piece):
            assert isinstance(event, Interrupt) or len(event.text) <= 200
    made.take_output()
    made.reset()
    assert made.feed(b"status\r")[-1] == TypedLine("status")
