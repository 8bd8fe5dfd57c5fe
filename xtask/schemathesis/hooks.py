"""Makes valid requests meaningful where the OpenAPI document cannot: it cannot say that a key is used once, that a cursor
comes from an earlier page, that a period begins before it ends, or which ids exist. Invalid requests stay as they are."""

import functools
import itertools
import os

import requests
import schemathesis

_numbers = itertools.count(1)

# Ids in paths: the list that has them, its member of `data`, and the member of an item.
_LISTS = {
    "/paper-trading/accounts/{accountId}": ("/paper-trading/accounts", "accounts", "id"),
    "/recurring/{id}": ("/recurring", "streams", "id"),
    "/goals/{id}": ("/goals", "goals", "id"),
    "/approvals/{threadId}": ("/actions", None, "thread_id"),
    "/webhooks/events/{event_id}": ("/webhooks/events", "events", "id"),
}


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    number = next(_numbers)
    if "Idempotency-Key" in (case.headers or {}):
        case.headers["Idempotency-Key"] = f"request-{number}"
    if case.query:
        case.query.pop("cursor", None)
        # Waiting for the person's decision is tested elsewhere; here nobody decides.
        case.query.pop("wait", None)
        _order(case.query, "start_date", "end_date")
        _order(case.query, "start", "end")
    # Every other request asks for something that exists.
    if number % 2:
        _use_existing_id(case)
    # A receiver on this machine that refuses connections: nothing is sent to strangers.
    if isinstance(case.body, dict) and isinstance(case.body.get("url"), str):
        case.body["url"] = f"https://127.0.0.1:1/{number}"


def _order(query, first, last):
    """Puts both ends of a period in order, and leaves out a beginning that no end was given for."""
    if first not in query:
        return
    if last not in query:
        del query[first]
    else:
        # Periods have a greatest length, so both ends are the same.
        query[first] = query[last]


def _use_existing_id(case):
    for path, source in _LISTS.items():
        if case.operation.path.startswith(path):
            name = path[path.index("{") + 1 : -1]
            ids = _existing(case.operation.base_url, *source)
            if ids and name in (case.path_parameters or {}):
                case.path_parameters[name] = ids[0]


@functools.cache
def _existing(base_url, path, member, name):
    headers = {"Authorization": f"Bearer {os.environ['EVENKEEL_KEY']}"}
    data = requests.get(base_url + path, headers=headers, timeout=30).json()["data"]
    items = data if member is None else data[member]
    return [item[name] for item in items]
