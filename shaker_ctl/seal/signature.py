"""Ed25519 keys and signatures, as files. The only module that knows `cryptography`.

The private key belongs to whoever approves the table, and is never kept on it.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from shaker_ctl.errors import RefusedError, reraise_as
from shaker_ctl.whole_file import read_bounded, sync_folder

MAX_KEY = 65_536
"""Bytes; a key has some hundred."""

_RAW = serialization.Encoding.Raw, serialization.PublicFormat.Raw


def make_pair(private: Path, public: Path, passphrase: bytes | None) -> str:
    """Write a new pair of keys as PEM; return the public one's fingerprint.

    Raises RefusedError where a file is there already or cannot be written: a key is never replaced.
    """
    if os.path.realpath(private) == os.path.realpath(public):
        raise RefusedError(
            f"one file cannot hold both keys: {private}",
            remedy="Name two new files: the private key stays with the approver",
        )
    key = Ed25519PrivateKey.generate()
    guard: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if passphrase:
        guard = serialization.BestAvailableEncryption(passphrase)
    pem = serialization.Encoding.PEM
    public_pem = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    _write_new(private, key.private_bytes(pem, serialization.PrivateFormat.PKCS8, guard), 0o600)
    try:
        _write_new(public, public_pem, 0o644)
    except RefusedError:
        private.unlink(missing_ok=True)  # half a pair is of no use, and would stand in the way
        raise
    return fingerprint(key.public_key())


def _write_new(path: Path, content: bytes, mode: int) -> None:
    """Write a new file, on the disk when this returns, whole or not at all. Raises RefusedError."""
    is_made = False
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        is_made = True
        with os.fdopen(number, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(number)
        sync_folder(path.parent)
    except OSError as error:
        if is_made:
            path.unlink(missing_ok=True)
        raise RefusedError(
            f"the key {path} cannot be written: {error.strerror}",
            remedy="Name a new file in a folder that you may write to; a key is never replaced",
        ) from error


def is_guarded(private: Path) -> bool:
    """Return whether a passphrase is needed to open the private key. Raises RefusedError."""
    return b"ENCRYPTED" in _read(private)


def load_private(path: Path, passphrase: bytes | None) -> Ed25519PrivateKey:
    """Open a private key. Raises RefusedError where file or passphrase is wrong."""
    try:
        key = serialization.load_pem_private_key(_read(path), passphrase or None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise RefusedError(
            f"the private key {path} cannot be opened", remedy="Check the file and its passphrase"
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise RefusedError(f"{path} is not an Ed25519 key", remedy="shaker-ctl seal keys makes one")
    return key


def load_public(path: Path) -> Ed25519PublicKey:
    """Open a public key. Raises RefusedError where the file is missing or wrong."""
    try:
        key = serialization.load_pem_public_key(_read(path))
    except (ValueError, UnsupportedAlgorithm) as error:
        raise _no_public(path) from error
    if not isinstance(key, Ed25519PublicKey):
        raise _no_public(path)
    return key


def _no_public(path: Path) -> RefusedError:
    return RefusedError(
        f"{path} is not an Ed25519 public key", remedy="Install the approver's seal.pub again"
    )


def _read(path: Path) -> bytes:
    remedy = "shaker-ctl seal keys makes a pair; seal.pub belongs beside the settings file"
    with reraise_as(RefusedError, f"the key {path} cannot be read", remedy=remedy):
        return read_bounded(path, MAX_KEY)


def sign(key: Ed25519PrivateKey, content: bytes) -> str:
    """Return the signature in hex."""
    return key.sign(content).hex()


def is_signed(key: Ed25519PublicKey, content: bytes, signature: str) -> bool:
    """Return whether the private half of `key` signed `content`."""
    try:
        key.verify(bytes.fromhex(signature), content)
    except (InvalidSignature, ValueError):
        return False
    return True


def fingerprint(key: Ed25519PublicKey) -> str:
    """Return 16 hex digits that tell public keys apart, for screens and records."""
    return hashlib.sha256(key.public_bytes(*_RAW)).hexdigest()[:16]
