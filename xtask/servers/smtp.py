"""A real mail server, aiosmtpd, that takes messages only over STARTTLS and after a login.

Usage: smtp.py FOLDER USER PASSWORD

Writes ca.pem, the authority of its certificate, and each message as a line of messages.jsonl into the folder, prints its
port and serves until its input ends.
"""

import asyncio
import datetime
import email
import email.policy
import ipaddress
import json
import pathlib
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def certificate(subject, issuer, issuer_key, key, extensions):
    name = lambda text: x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name(subject))
        .issuer_name(name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical)
    return builder.sign(issuer_key, hashes.SHA256())


def tls_context(folder):
    """A server certificate for 127.0.0.1 from an authority of its own."""
    ca_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    ca = certificate("Test authority", "Test authority", ca_key, ca_key, [(x509.BasicConstraints(True, None), True)])
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    leaf = certificate("127.0.0.1", "Test authority", ca_key, key, [(address, False)])
    pem = serialization.Encoding.PEM
    (folder / "ca.pem").write_bytes(ca.public_bytes(pem))
    (folder / "server.pem").write_bytes(leaf.public_bytes(pem))
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.key").write_bytes(private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    return context


class Handler:
    def __init__(self, path):
        self.path = path

    async def handle_DATA(self, server, session, envelope):
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        seen = {
            "to": envelope.rcpt_tos,
            "from": str(message["from"]),
            "subject": str(message["subject"]),
            "text": message.get_content(),
            "defects": [str(it) for it in message.defects],
            "encrypted": session.ssl is not None,
        }
        with self.path.open("a") as file:
            file.write(json.dumps(seen) + "\n")
        return "250 taken"


async def serve():
    folder, user, password = pathlib.Path(sys.argv[1]), sys.argv[2].encode(), sys.argv[3].encode()
    context = tls_context(folder)

    def authenticate(server, session, envelope, mechanism, data):
        is_right = isinstance(data, LoginPassword) and (data.login, data.password) == (user, password)
        return AuthResult(success=is_right, handled=False)

    def protocol():
        return SMTP(
            Handler(folder / "messages.jsonl"),
            tls_context=context,
            require_starttls=True,
            auth_required=True,
            authenticator=authenticate,
        )

    loop = asyncio.get_running_loop()
    server = await loop.create_server(protocol, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve())
