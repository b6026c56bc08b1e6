"""One connection to an MQTT 5 broker at a time, by paho, with mutual TLS 1.3.

Owns connecting, waiting and reconnecting, for both ends of the protocol. A client is made anew for
each connection, so that nothing of an earlier one is sent late. The socket is polled here: paho's
own loop uses `select`, and above descriptor 1,023 it fails without a word.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import random
import secrets
import select
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from shaker_ctl.errors import SettingsError
from shaker_ctl.frozen import frozen
from shaker_ctl.link.parameters import BrokerParameters

log = logging.getLogger(__name__)

MAX_PAUSE_S = 30.0
CONNECT_S = 10.0
KEEPALIVE_S = 15
"""Silence after which either end asks whether the other is there."""
WILL_DELAY_S = 10
MAX_AT_ONCE = 256
"""Messages that one `turn` reads; the rest stays with the network."""


@frozen
class Will:
    """What the broker says for us when we are gone."""

    topic: str
    payload: bytes


class Connection:
    """Reconnects by itself. One thread: it is only used from within the callbacks and `turn`."""

    def __init__(
        self,
        parameters: BrokerParameters,
        client_id: str,
        *,
        will: Callable[[str], Will] | None = None,
        connected: Callable[[], None],
        received: Callable[[str, bytes], None],
        subscriptions: list[tuple[str, int]],
    ) -> None:
        """`client_id` is for people. What the broker hears ends in a digest of the private key: an
        MQTT broker ends a connection when another client comes with its identifier, and nobody
        else can know this one. `will` is asked once a connection, with its session.
        `subscriptions`: topic and QoS; they are asked for anew on each connection, before
        `connected` is called.

        Raises SettingsError where a certificate or key cannot be read.
        """
        self._p = parameters
        self._client_id = client_id
        self._will = will
        self._connected = connected
        self._received = received
        self._subscriptions = subscriptions
        self._tls = tls_context(parameters)
        self._secret = hashlib.sha256(b"client id" + parameters.key.read_bytes()).hexdigest()[:16]
        self._client: Client | None = None
        self._pause_s = 1.0
        self._next_try_s = 0.0
        self._tries = 0
        self.session = ""
        """Sixteen hexadecimal digits, other ones for each connection."""
        self._is_leaving = False
        self.is_connected = False
        self.trouble = "not tried yet"
        """Why there is no connection; empty while there is one."""

    @property
    def at(self) -> str:
        """The broker that is tried or connected, `HOST:PORT`: the next of `hosts` with each try."""
        hosts = self._p.hosts or (self._p.host,)
        host, _, port = hosts[max(0, self._tries - 1) % len(hosts)].partition(":")
        return f"{host}:{port or self._p.port}"

    def fileno(self) -> int:
        """The socket's descriptor; -1 without one. Each connection has another."""
        at = None if self._client is None else self._client.socket()
        return -1 if at is None else int(at.fileno())

    def turn(self, timeout_s: float, is_enough: Callable[[], bool] = lambda: False) -> None:
        """Do all there is to do, or wait so long for something to do.

        While `is_enough`, nothing is read: it stays with the network.
        """
        now_s = time.monotonic()
        if self._client is None:
            if now_s < self._next_try_s:
                time.sleep(min(timeout_s, self._next_try_s - now_s))
                return
            self._open()
            return
        client = self._client
        for _ in range(MAX_AT_ONCE):
            if is_enough() or not (ready := self._ready(client, timeout_s)):
                break
            if ready & ~select.POLLOUT:
                self._read(client)
            if ready & select.POLLOUT and self._client is client:
                client.loop_write()
            if self._client is not client:
                return
            timeout_s = 0.0
        if self._client is client:
            client.loop_misc()

    def publish(self, topic: str, payload: bytes, *, qos: int = 0, retain: bool = False) -> None:
        """Hand a message over; without a connection it is dropped: everything is sent anew."""
        if self._client is not None and self.is_connected:
            self._client.publish(topic, payload, qos=qos, retain=retain)

    def subscribe(self, topics: list[str]) -> None:
        """Listen to more topics, for as long as this connection lasts."""
        if self._client is not None and self.is_connected:
            self._client.subscribe([(topic, 0) for topic in topics])

    def unsubscribe(self, topics: list[str]) -> None:
        """Listen to them no more."""
        if self._client is not None and self.is_connected:
            self._client.unsubscribe(topics)

    def close(self, farewell: Will | None = None) -> None:
        """Say farewell and leave in order: the broker then drops the will."""
        self._is_leaving = True
        if self._client is not None and self.is_connected:
            if farewell is not None:
                self.publish(farewell.topic, farewell.payload, retain=True)
            with contextlib.suppress(OSError):
                self._client.disconnect()
        self._drop("closed")

    def abort(self) -> None:
        """Be gone without a word, as a killed process is; `turn` connects again."""
        self._drop("dropped")

    # ── Inside ──────────────────────────────────────────────────────────────

    def _open(self) -> None:
        self.session = secrets.token_hex(8)
        self._tries += 1
        client = Client(
            CallbackAPIVersion.VERSION2,
            f"{self._client_id}-{self._secret}",
            protocol=MQTTProtocolVersion.MQTTv5,
        )
        client.tls_set_context(self._tls)
        client.connect_timeout = CONNECT_S
        if self._will is not None:
            will = self._will(self.session)
            delay = Properties(PacketTypes.WILLMESSAGE)
            delay.WillDelayInterval = WILL_DELAY_S
            client.will_set(will.topic, will.payload, qos=1, retain=True, properties=delay)
        client.on_connect = self._on_connect
        client.on_disconnect = self._on_disconnect
        client.on_message = self._on_message
        client.on_subscribe = self._on_subscribe
        self._client = client
        # A will is delayed only as long as the session lives. No message is ever waiting in it:
        # each connection starts a clean one.
        lasting = Properties(PacketTypes.CONNECT)
        lasting.SessionExpiryInterval = WILL_DELAY_S
        host, _, port = self.at.partition(":")
        try:
            client.connect(
                host,
                int(port),
                keepalive=KEEPALIVE_S,
                clean_start=True,
                properties=lasting,
            )
        except (OSError, ValueError) as error:
            self._drop(f"no way to {self.at}: {error}")

    def _read(self, client: Client) -> None:
        # Only while reading: then it tells what the broker says. While writing, paho would make up
        # a reason for each message of QoS 0, which costs half of its sending.
        client.on_publish = self._on_publish
        try:
            while self._client is client:
                client.loop_read()
                at = client.socket()
                # What TLS has decrypted already no descriptor shows.
                if not isinstance(at, ssl.SSLSocket) or not at.pending():
                    return
        finally:
            client.on_publish = None

    def _ready(self, client: Client, timeout_s: float) -> int:
        """What poll(2) says of the socket, at the latest after so long; 0: nothing."""
        at = client.socket()
        if at is None:
            self._drop(self.trouble or "the connection is gone")
            return 0
        asked = select.poll()
        asked.register(at, select.POLLIN | (select.POLLOUT if client.want_write() else 0))
        return next((event for _, event in asked.poll(1000 * timeout_s)), 0)

    def _drop(self, why: str) -> None:
        if why != self.trouble and not self._is_leaving:
            log.warning("%s: %s", self._client_id, why)
        self.trouble, self.is_connected = why, False
        client, self._client = self._client, None
        at = client.socket() if client is not None else None
        if at is not None:
            with contextlib.suppress(OSError):
                at.close()
        # Not all tables of a house at once when the broker is back.
        self._next_try_s = time.monotonic() + self._pause_s * random.uniform(0.5, 1.0)
        self._pause_s = min(MAX_PAUSE_S, self._pause_s * 2)

    def _on_connect(self, client: Client, _data: Any, _flags: Any, reason: Any, _: Any) -> None:
        if client is not self._client:
            return
        if reason.is_failure:
            self._drop(f"{self.at} refuses {self._client_id}: {reason}")
            return
        at = client.socket()
        if isinstance(at, socket.socket):
            with contextlib.suppress(OSError):
                at.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._pause_s = 1.0
        self.is_connected, self.trouble = True, ""
        if self._subscriptions:
            client.subscribe(list(self._subscriptions))
        self._connected()

    def _on_disconnect(self, client: Client, _data: Any, _flags: Any, reason: Any, _: Any) -> None:
        if client is self._client:
            self._drop(f"{self.at} is gone: {reason}")

    def _on_message(self, client: Client, _data: Any, message: MQTTMessage) -> None:
        if client is self._client:
            self._received(message.topic, bytes(message.payload))

    def _on_publish(self, _client: Client, _data: Any, _mid: int, reason: Any, _: Any) -> None:
        if reason.is_failure:
            log.error("the broker refuses a message of %s: %s", self._client_id, reason)

    def _on_subscribe(self, _client: Client, _data: Any, _mid: int, reasons: Any, _: Any) -> None:
        for (topic, _), reason in zip(self._subscriptions, reasons, strict=False):
            if reason.is_failure:
                log.error("the broker refuses %s the topic %s: %s", self._client_id, topic, reason)


def tls_context(parameters: BrokerParameters) -> ssl.SSLContext:
    """Return TLS 1.3 with both certificates. Raises SettingsError where a file cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    try:
        context.load_verify_locations(parameters.authority)
        context.load_cert_chain(parameters.certificate, parameters.key)
    except (OSError, ssl.SSLError) as error:
        files = f"{parameters.authority}, {parameters.certificate}, {parameters.key}"
        raise SettingsError(
            f"authority, certificate and key cannot be used ({files}): {error}",
            remedy="The floor makes them: shaker-floor issue NAME",
        ) from error
    return context
