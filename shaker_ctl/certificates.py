"""What every certificate of this house has: its kind of key, its days, its form in a file.

Owns these three. Must not know who signs, and what a certificate permits.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def new_key() -> ec.EllipticCurvePrivateKey:
    """Make a key on the curve that every browser and every TLS library knows."""
    return ec.generate_private_key(ec.SECP256R1())


def key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    """Return a key as a file has it: PKCS 8, without a passphrase."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def named(common: str) -> x509.Name:
    """Return a name that has nothing but a common name."""
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, days: int, *, ca: bool
) -> x509.CertificateBuilder:
    """Return a certificate of `key` that holds for so many days from now, to be signed."""
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # A computer whose clock is a little behind still accepts what was signed just now.
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca, 0 if ca else None), critical=True)
    )
