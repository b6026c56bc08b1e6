"""Who may say what at the broker is what tables and floor say, and nothing else."""

from __future__ import annotations

from pathlib import Path

from shaker_ctl.floor import broker
from shaker_ctl.link import home_assistant, topics
from shaker_ctl.link.topics import Place


def test_a_table_may_say_what_it_says_under_its_own_name_and_hear_the_floor(tmp_path: Path) -> None:
    given = {"site": "house", "port": 8883, "address": "0.0.0.0", "peer": "b.example:8883"}
    configuration, acl = broker.write(tmp_path, certificates=Path("/c"), **given)  # type: ignore[arg-type]
    lines = acl.read_text("utf-8").splitlines()
    own, every = Place("house", "%u"), Place("house", "+")
    spoken = {own.topic(kind) for kind in (topics.JOURNAL, *topics.SHOWN)}

    def of(act: str) -> set[str]:
        return {line.removeprefix(act) for line in lines if line.startswith(act)}

    assert of("pattern write ") == spoken | {home_assistant.topic(own)}
    assert of("pattern read ") == {own.topic(topics.ACK), own.topic(f"{topics.ALARM}/+")}
    assert of("topic write ") == {every.topic(topics.ACK)}, "the floor only acknowledges"
    assert of("user ") == topics.RESERVED - {"floor"}
    text = configuration.read_text("utf-8")
    assert f"acl_file {acl}" in text
    assert "address b.example:8883" in text
