"""Files through a terminal session: whole or refused, however the line cuts or garbles them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shaker_ctl.console.desk import Parcel
from shaker_ctl.console.file_transfer import BrokenFile, Piece, Unwrapper, wrap


def unwrap(stream: bytes, step: int) -> list[Piece]:
    taker = Unwrapper()
    return [p for at in range(0, len(stream), step) for p in taker.feed(stream[at : at + step])]


@given(content=st.binary(max_size=3000), step=st.integers(1, 500))
def test_a_file_arrives_whole_and_the_text_around_it_stays(content: bytes, step: int) -> None:
    parcel = Parcel("snap.jpg", content)
    stream = b"> camera snap\r\n" + "".join(wrap(parcel)).encode() + b"ok\r\n> "
    pieces = unwrap(stream, step)
    assert [p for p in pieces if not isinstance(p, bytes)] == [parcel]
    assert b"".join(p for p in pieces if isinstance(p, bytes)) == b"> camera snap\r\nok\r\n> "


@given(at=st.integers(40, 3000), wrong=st.binary(min_size=1, max_size=3))
def test_a_damaged_file_is_never_handed_on_as_whole(at: int, wrong: bytes) -> None:
    parcel = Parcel("bundle.tar.gz", bytes(range(256)) * 8)
    stream = "".join(wrap(parcel)).encode()
    damaged = stream[:at] + wrong + stream[at + len(wrong) :]
    files = [p for p in unwrap(damaged, 100) if isinstance(p, Parcel | BrokenFile)]
    assert all(file == parcel or isinstance(file, BrokenFile) for file in files)


def test_a_typed_line_is_shown_at_once() -> None:
    assert Unwrapper().feed(b"sta") == [b"sta"]


def test_a_name_cannot_lead_out_of_the_folder() -> None:
    assert all(
        isinstance(piece, bytes)
        for piece in unwrap(b"-----BEGIN ../../etc/passwd 3 bytes-----\r\nAAAA\r\n", 7)
    )


def test_a_long_file_says_how_much_of_it_is_here() -> None:
    taker, shares = Unwrapper(), []
    for lines in wrap(Parcel("bundle.tar.gz", bytes(40_000))):
        taker.feed(lines.encode())
        shares.append(taker.under_way)
    assert shares[0] == ("bundle.tar.gz", 0.0)
    assert shares[-1] is None
    here = [share for _, share in filter(None, shares)]
    assert here == sorted(here)
    assert 0.95 < here[-1] <= 1.0
