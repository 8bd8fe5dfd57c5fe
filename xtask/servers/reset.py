"""Resets a forgotten password as a person would: asks for a link, reads the message that the mail server received, and
chooses a new password at the address in it. Arguments: the server's address, the email, and the file of the messages."""

import json
import re
import sys
import time
import urllib.parse
import urllib.request

ADDRESS, EMAIL, MESSAGES = sys.argv[1:]
cookies = {}


def send(path, fields=None):
    body = None if fields is None else urllib.parse.urlencode(fields).encode()
    request = urllib.request.Request(ADDRESS + path, data=body)
    request.add_header("Cookie", "; ".join(f"{name}={value}" for name, value in cookies.items()))
    with urllib.request.urlopen(request) as answer:
        for line in answer.headers.get_all("Set-Cookie", []):
            name, _, value = line.split(";")[0].partition("=")
            cookies[name] = value
        return answer.read().decode()


def token(page):
    return re.search(r'name="form_token" value="([^"]+)"', page).group(1)


def link():
    """The path of the link in the newest message to the person, which a background step sends."""
    for _ in range(300):
        with open(MESSAGES, encoding="utf-8") as lines:
            for message in map(json.loads, lines):
                found = re.search(r"https://money\.example\.com(/reset-password/\S+)", message["text"])
                if message["to"] == [EMAIL] and found:
                    assert message["defects"] == [], message
                    return found.group(1)
        time.sleep(0.1)
    raise SystemExit("no message with a link arrived")


page = send("/forgot-password")
send("/forgot-password", {"form_token": token(page), "email": EMAIL})
path = link()
page = send(path)
page = send(path, {"form_token": token(page), "password": "a new long password"})
assert "Password changed" in page, page
