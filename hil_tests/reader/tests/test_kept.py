"""Results that a stopped bench left behind."""

from __future__ import annotations

from hil_tests.reader.kept import results


def test_a_stopped_bench_goes_on_and_a_half_written_result_is_made_again(tmp_path):
    file, asked = tmp_path / "seen" / "cases.jsonl", []

    def case(number):
        asked.append(number)
        return {"number": number}

    assert results(file, 3, case) == [{"number": n} for n in range(3)]
    file.write_bytes(file.read_bytes()[:-4])
    assert results(file, 4, case) == [{"number": n} for n in range(4)]
    assert asked == [0, 1, 2, 2, 3]
    assert len(file.read_text().splitlines()) == 4
