"""Configuration of mosquitto for one house: mutual TLS 1.3, and who may say what.

Owns the two files' text. Any MQTT 5 broker that takes a client's name from its certificate and can
hold it to topics does as well.
"""

from __future__ import annotations

from pathlib import Path

from shaker_ctl.link import home_assistant, topics
from shaker_ctl.link.topics import BROKER, COLLECTOR, DISPLAY, PAGE, Place

_HOME_ASSISTANT = f"{home_assistant.PREFIX}/device/+/config"


def configuration(folder: Path, *, port: int, address: str, acl: Path) -> str:
    """Return mosquitto.conf; `folder`: the broker's own certificate, key and authority."""
    return f"""\
# Written by `shaker-floor broker`. Nothing rests on what this broker keeps: tables send again what
# the floor's database has not committed, and everything retained is published anew on each connect.
per_listener_settings false
allow_anonymous false
persistence false
listener {port} {address}
cafile {folder / "authority.pem"}
certfile {folder / "certificate.pem"}
keyfile {folder / "key.pem"}
tls_version tlsv1.3
require_certificate true
use_identity_as_username true
acl_file {acl}
max_packet_size 4259840
# A collector that is slow for a moment: the broker holds so many messages for it, then drops them.
max_inflight_messages 100
max_queued_messages 20000
max_connections 20000
connection_messages false
log_type error
log_type warning
log_type notice
"""


def bridge(folder: Path, site: str, peer: str) -> str:
    """Return what joins this broker to another, at `peer`: all that is said at one is said at both,
    and retained at both. One of two brokers has it."""
    return f"""\
connection peer
address {peer}
bridge_protocol_version mqttv50
bridge_cafile {folder / "authority.pem"}
bridge_certfile {folder / "certificate.pem"}
bridge_keyfile {folder / "key.pem"}
bridge_tls_version tlsv1.3
cleansession true
restart_timeout 1 5
notifications false
topic {topics.ROOT}/{site}/# both 0
topic {_HOME_ASSISTANT} both 0
"""


def acl(site: str) -> str:
    """Return the list of who may say what in a house."""
    root = f"{topics.ROOT}/{site}"
    lines = ["# Written by `shaker-floor broker`. %u is the common name of the certificate."]
    for kind in topics.FROM_TABLE:
        lines.append(f"pattern write {root}/%u/{kind}")
    for kind in (topics.ACK, f"{topics.ALARM}/+"):
        lines.append(f"pattern read {root}/%u/{kind}")
    own = Place(site, "%u")
    lines.append(f"pattern write {home_assistant.topic(own)}")
    lines += ["", f"user {COLLECTOR}"]
    for kind in topics.FROM_TABLE:
        lines.append(f"topic read {root}/+/{kind}")
    lines.append(f"topic write {root}/+/{topics.ACK}")
    lines += ["", f"user {PAGE}"]
    for kind in topics.SHOWN:
        lines.append(f"topic read {root}/+/{kind}")
    lines.append(f"topic read {_HOME_ASSISTANT}")
    lines += ["", "# A second broker that joins itself to this one.", f"user {BROKER}"]
    lines += [f"topic readwrite {root}/#", f"topic readwrite {_HOME_ASSISTANT}"]
    lines += ["", "# Results for displays, and whether the table is there.", f"user {DISPLAY}"]
    for kind in (topics.RESULT, topics.ALIVE):
        lines.append(f"topic read {root}/+/{kind}")
    lines.append(f"topic read {_HOME_ASSISTANT}")
    return "\n".join(lines) + "\n"
