"""What stands in forms, read and checked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import PurePath

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response

from dicegym.errors import ParameterError
from dicegym.web.enter.plans import ContestPlan
from dicegym.web.enter.uploads import LARGEST_UPLOAD, PASTED, Upload

MOST_FIELDS = 60
ROOM = 64 << 10
"""Bytes of a form besides what is handed in."""


def posted(answer: Callable[[Request, FormData], Response]) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that reads a form, and answers in a thread, as what it does may wait for a disk."""

    async def endpoint(request: Request) -> Response:
        async with request.form(max_files=1, max_fields=MOST_FIELDS, max_part_size=LARGEST_UPLOAD + 1) as form:
            return await run_in_threadpool(answer, request, form)

    return endpoint


def text_in(form: FormData, name: str) -> str:
    """Return what was typed into a field; nothing if it is not there."""
    found = form.get(name)
    return found.strip() if isinstance(found, str) else ""


def number_in(form: FormData, name: str) -> int | None:
    """Return the number that was typed into a field, None if there is none. Raises ParameterError for anything else."""
    text = text_in(form, name)
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise ParameterError(f"{name}: {text!r} is no whole number") from None


def upload_in(form: FormData) -> Upload:
    """Return what is handed in: a file, or a text that was pasted. Raises ParameterError for none, or both."""
    file, pasted = form.get("file"), form.get("text")
    data = file.file.read(LARGEST_UPLOAD + 1) if isinstance(file, UploadFile) and file.filename else b""
    text = pasted if isinstance(pasted, str) and pasted.strip() else ""
    if bool(data) == bool(text):
        both = "a file and a text: leave one of them out" if data else "no file and no text: choose one, or paste it"
        raise ParameterError(f"there is {both}")
    if data and isinstance(file, UploadFile):
        return Upload(PurePath((file.filename or "").replace("\\", "/")).name, data)
    return Upload(PASTED, text.replace("\r\n", "\n").encode("utf-8", "replace"))


def name_in(form: FormData, upload: Upload) -> str:
    """Return what the bot is to be called: as was typed, else as the file is."""
    typed = text_in(form, "name")
    return typed or ("" if upload.file == PASTED else PurePath(upload.file).stem)


def plan_in(form: FormData) -> ContestPlan:
    """Return the contest that an operator describes. Raises what `ContestPlan` raises."""
    parameters = {}
    for text in text_in(form, "parameters").replace(",", " ").split():
        key, _, value = text.partition("=")
        try:
            parameters[key] = int(value)
        except ValueError:
            raise ParameterError(f"parameters: {text!r} cannot be read: write NAME=NUMBER, such as goal=50") from None
    seconds = text_in(form, "seconds")
    try:
        limit = float(seconds) if seconds else 10.0
    except ValueError:
        raise ParameterError(f"seconds: {seconds!r} is no number") from None
    return ContestPlan(
        text_in(form, "game"),
        text_in(form, "format") or None,
        number_in(form, "games"),
        number_in(form, "seeds") or 1,
        number_in(form, "rounds"),
        number_in(form, "players"),
        bool(text_in(form, "exact")),
        bool(text_in(form, "less_luck")),
        parameters,
        tuple(text_in(form, "agents").replace(",", " ").split()),
        limit,
        number_in(form, "memory") or 512,
    )
