import base64, hashlib, hmac, json, time

def verify(secret, headers, body):
    """Headers with names in lower case, and the body as the bytes that came."""
    event_id, sent_at = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(sent_at)) > 300:
        raise ValueError("sent too long ago")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{event_id}.{sent_at}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256))
    entries = headers["webhook-signature"].encode().split(b" ")
    if not any(hmac.compare_digest(expected, entry) for entry in entries):
        raise ValueError("not signed with this secret")
    return json.loads(body)
