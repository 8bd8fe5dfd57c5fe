"""A real S3 server, moto, that takes only requests whose signature botocore computes as well.

Usage: s3.py ACCESS_KEY_ID SECRET_ACCESS_KEY REGION BUCKET

Creates the bucket, prints the server's address and serves until its input ends.
"""

import hashlib
import hmac
import io
import logging
import sys
import threading

import boto3
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
from werkzeug.wrappers import Response

ALGORITHM = "AWS4-HMAC-SHA256 "


class SignatureCheck:
    """Passes a request on if botocore would have signed it with the same result."""

    def __init__(self, app, access_key_id, secret_access_key, region):
        self.app = app
        self.access_key_id = access_key_id
        self.auth = S3SigV4Auth(Credentials(access_key_id, secret_access_key), "s3", region)

    def __call__(self, environ, start_response):
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"] = io.BytesIO(body)
        code = self.find_fault(environ, body)
        if code is None:
            return self.app(environ, start_response)
        text = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>refused</Message></Error>"
        return Response(text, status=403, mimetype="application/xml")(environ, start_response)

    def find_fault(self, environ, body):
        header = environ.get("HTTP_AUTHORIZATION", "")
        if not header.startswith(ALGORITHM):
            return "AccessDenied"
        parts = dict(part.strip().split("=", 1) for part in header[len(ALGORITHM):].split(","))
        if parts["Credential"].split("/")[0] != self.access_key_id:
            return "InvalidAccessKeyId"
        declared = environ.get("HTTP_X_AMZ_CONTENT_SHA256", "")
        if declared != hashlib.sha256(body).hexdigest():
            return "XAmzContentSHA256Mismatch"
        names = parts["SignedHeaders"].split(";")
        if not {"host", "x-amz-content-sha256", "x-amz-date"} <= set(names):
            return "AccessDenied"

        def value(name):
            key = name.upper().replace("-", "_")
            return environ.get(key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}", "")

        host = environ["HTTP_HOST"]
        request = AWSRequest(
            method=environ["REQUEST_METHOD"],
            url=f"http://{host}{environ['REQUEST_URI']}",
            headers={name: value(name) for name in names},
        )
        request.context["timestamp"] = value("x-amz-date")
        text = self.auth.string_to_sign(request, self.auth.canonical_request(request))
        expected = self.auth.signature(text, request)
        scope = "/".join(parts["Credential"].split("/")[1:])
        is_right = hmac.compare_digest(expected, parts["Signature"])
        return None if is_right and scope == self.auth.credential_scope(request) else "SignatureDoesNotMatch"


def main():
    access_key_id, secret_access_key, region, bucket = sys.argv[1:]
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app = DomainDispatcherApplication(create_backend_app)
    app = SignatureCheck(app, access_key_id, secret_access_key, region)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # The check must take what botocore signs.
    client = boto3.client(
        "s3",
        endpoint_url=url,
        region_name=region,
        aws_access_key_id=access_key_id,
        aws_secret_access_key=secret_access_key,
        config=Config(s3={"addressing_style": "path", "payload_signing_enabled": True}),
    )
    client.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": region})
    print(url, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
