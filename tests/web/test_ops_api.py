"""The interface for programs: described as OpenAPI has it, and refused in words."""

from __future__ import annotations

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import BaseModel, Field
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.testclient import TestClient

from dicegym.errors import UnknownNameError
from dicegym.web import api, openapi
from dicegym.web.faults import HANDLERS


class Asked(BaseModel):
    dice: int = Field(ge=0, le=10)
    name: str = "anybody"


class Wanted(BaseModel):
    page: int = Field(1, ge=1, description="from 1")


class Told(BaseModel):
    text: str
    more: list[Asked] = []


async def answer(request: Request) -> Told:
    if request.path_params.get("id") == 7:
        raise UnknownNameError("there is no game 7")
    query = api.query_of(request, Wanted)
    body = api.body_of(request, Asked)
    return Told(text=f"{body.name} {body.dice} {query.page}", more=[body])


OPERATION = api.Operation(
    "POST", "/made/{id:number}", "Do something", answer, Told, takes=Asked, query=Wanted, status=201, token=True,
    example={"dice": 3},
)  # fmt: skip


def test_the_document_is_openapi(client: TestClient) -> None:
    document = client.get("/api/openapi.json").json()
    OpenAPIV31SpecValidator(document).validate()
    identifiers = [one["operationId"] for path in document["paths"].values() for one in path.values()]
    assert len(identifiers) == len(set(identifiers))
    assert all(one["tags"] for path in document["paths"].values() for one in path.values())


def test_an_operation_is_described_whole() -> None:
    document = openapi.openapi([OPERATION])
    OpenAPIV31SpecValidator(document).validate()
    told = document["paths"]["/api/made/{id}"]["post"]
    assert told["parameters"][0] == {"name": "id", "in": "path", "required": True, "schema": openapi.SHAPES["number"]}
    assert told["parameters"][1]["name"] == "page"
    assert told["security"] == [{"token": []}]
    assert {"201", "400", "401", "403", "404", "413", "422", "429", "500", "503"} <= set(told["responses"])
    assert told["requestBody"]["content"]["application/json"]["example"] == {"dice": 3}
    assert {"Asked", "Told", "Fault"} <= set(document["components"]["schemas"])


@pytest.mark.parametrize(
    ("path", "sent", "status", "says"),
    [
        ("/api/made/1", {"json": {"dice": 3}}, 201, "anybody 3 1"),
        ("/api/made/1?page=2", {"json": {"dice": 3, "name": "x"}}, 201, "x 3 2"),
        ("/api/made/7", {"json": {"dice": 3}}, 404, "no game 7"),
        ("/api/made/1", {"json": {"dice": 11}}, 422, "dice: Input should be less than or equal to 10"),
        ("/api/made/1", {"json": {}}, 422, "dice: Field required"),
        ("/api/made/1", {"json": {"dice": "<b>"}}, 422, "It has these fields: dice, [name]"),
        ("/api/made/1?page=0", {"json": {"dice": 3}}, 422, "page"),
        ("/api/made/1", {"content": "{", "headers": {"Content-Type": "application/json"}}, 422, "the body"),
        ("/api/made/1", {"content": "{}"}, 422, "application/json"),
        ("/api/made/1", {"content": "[" * 50000, "headers": {"Content-Type": "application/json"}}, 422, "the body"),
    ],
)
def test_what_is_sent_is_read_or_refused_in_words(path: str, sent: dict, status: int, says: str) -> None:
    with TestClient(Starlette(routes=api.routes([OPERATION]), exception_handlers=HANDLERS)) as asked:
        answered = asked.post(path, **sent)
    assert answered.status_code == status
    assert says in answered.text


def test_the_page_for_people_names_every_operation(client: TestClient) -> None:
    shown = client.get("/api").text
    for path in client.get("/api/openapi.json").json()["paths"]:
        assert path in shown
