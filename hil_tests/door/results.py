"""Every result of a house, from its broker: python3 results.py HOST SITE FOLDER

It needs paho-mqtt. FOLDER has authority.pem, certificate.pem and key.pem, issued for `display`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion


def told(topic: str, payload: bytes) -> str:
    """One result in one line."""
    table, result = topic.split("/")[3], json.loads(payload)
    values = " ".join(map(str, result["values"]))
    held = f" withdrawn: {result['withdrawn']}" if result["withdrawn"] else ""
    marks = "".join(f" {mark}" for mark in result["marks"])
    return f"{table} round {result['round']}: {values} {result['side']}{held}{marks}"


def listening(
    host: str, port: int, site: str, folder: Path, say: Callable[[str], Any]
) -> mqtt.Client:
    """Return a client that says each result as it comes, and first the newest of each table."""
    client = mqtt.Client(CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
    authority, certificate, key = (
        str(folder / f"{one}.pem") for one in ("authority", "certificate", "key")
    )
    client.tls_set(authority, certificate, key)

    def connected(*_: object) -> None:
        client.subscribe(f"shaker/1/{site}/+/result", 1)

    def heard(_client: object, _data: object, got: mqtt.MQTTMessage) -> None:
        say(told(got.topic, bytes(got.payload)))

    client.on_connect, client.on_message = connected, heard
    client.connect(host, port)
    return client


if __name__ == "__main__":
    host, site, folder = sys.argv[1:]
    listening(host, 8883, site, Path(folder), print).loop_forever()
