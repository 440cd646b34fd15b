"""The operations for programs: described as OpenAPI has it, and refused in words."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import FastAPI
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.testclient import TestClient

from dicegym.errors import UnknownNameError
from dicegym.web.error_answers import HANDLERS
from dicegym.web.section import LARGEST, PathNumber, QueryNumber, Section, describe_api

SECTION = Section("/made", "Made", "What is made.")


class Dice(BaseModel):
    dice: int = Field(ge=0, le=10)
    name: str = "anybody"


class Told(BaseModel):
    text: str
    more: list[Dice] = []


@SECTION.post(api="/made/{id:number}", returns=Told, status=201, token=True, extra={"x-example": {"dice": 3}})
def make_something(request: Request, id: PathNumber, wanted: Dice, page: QueryNumber = 1) -> dict[str, Any]:
    """Do something."""
    if id == 7:
        raise UnknownNameError("there is no game 7")
    return {"text": f"{wanted.name} {wanted.dice} {page}", "more": [wanted], "secret": "for the page alone"}


@pytest.fixture(scope="module")
def made() -> FastAPI:
    app = FastAPI(openapi_url=None, exception_handlers=HANDLERS)
    app.router.routes.extend(SECTION.routes)
    return app


def test_the_document_is_openapi(reader: TestClient) -> None:
    document = reader.get("/api/openapi.json").json()
    OpenAPIV31SpecValidator(document).validate()
    assert {"get", "post"} <= set(document["paths"]["/api/enter/bots"])
    identifiers = [one["operationId"] for path in document["paths"].values() for one in path.values()]
    assert len(identifiers) == len(set(identifiers))
    assert all(one["tags"] and one["summary"] for path in document["paths"].values() for one in path.values())


def test_an_operation_is_described_whole(made: FastAPI) -> None:
    document = describe_api(made)
    OpenAPIV31SpecValidator(document).validate()
    told = document["paths"]["/api/made/{id}"]["post"]
    number = {"type": "integer", "minimum": 0, "maximum": LARGEST, "title": "Id"}
    assert told["parameters"][0] == {"name": "id", "in": "path", "required": True, "schema": number}
    assert told["parameters"][1]["name"] == "page"
    assert told["security"] == [{"token": []}]
    assert {"201", "4XX", "5XX"} <= set(told["responses"])
    assert told["x-example"] == {"dice": 3}
    assert {"Dice", "Told", "Fault"} <= set(document["components"]["schemas"])


@pytest.mark.parametrize(
    ("path", "sent", "status", "says"),
    [
        ("/api/made/1", {"json": {"dice": 3}}, 201, "anybody 3 1"),
        ("/api/made/1?page=2", {"json": {"dice": 3, "name": "x"}}, 201, "x 3 2"),
        ("/api/made/7", {"json": {"dice": 3}}, 404, "no game 7"),
        ("/api/made/1", {"json": {"dice": 11}}, 422, "dice 11: Input should be less than or equal to 10"),
        ("/api/made/1", {"json": {}}, 422, "dice is missing"),
        ("/api/made/1", {"json": {"dice": "<b>"}}, 422, "dice '<b>' is not a whole number"),
        ("/api/made/1?page=-1", {"json": {"dice": 3}}, 422, "page"),
        ("/api/made/1", {"content": "{", "headers": {"Content-Type": "application/json"}}, 422, "body"),
        ("/api/made/1", {"content": "{}"}, 422, "body"),
        ("/api/made/1", {"content": "[" * 50000, "headers": {"Content-Type": "application/json"}}, 400, "body"),
    ],
)
def test_what_is_sent_is_read_or_refused_in_words(made: FastAPI, path: str, sent: dict, status: int, says: str) -> None:
    with TestClient(made) as asked:
        answered = asked.post(path, **sent)
    assert answered.status_code == status
    assert says in answered.text
    assert "for the page alone" not in answered.text
