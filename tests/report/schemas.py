"""Documents for other programs, checked against the schema that they name."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import jsonschema

SCHEMAS = ("verify-1", "slim-1", "mutate-1", "sync-1", "equiv-1")


def schema(name: str) -> Any:
    """A published schema, for example `verify-1`."""
    return json.loads(files("exogpu.report").joinpath(f"{name}.schema.json").read_text(encoding="utf-8"))


def valid(text: str) -> Any:
    """The document in `text`, which obeys its schema."""
    document = json.loads(text)
    jsonschema.validate(document, schema(document["schema"].removeprefix("exogpu.").replace("/", "-")))
    return document
