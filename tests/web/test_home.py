"""The first page, and pages that are not there, as others try to misuse them; test_browser.py looks at it."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient


def test_unknown_pages_say_so(client: TestClient) -> None:
    answer = client.get("/nothing")
    assert answer.status_code == 404
    assert "<h1>" in answer.text
    assert "gone" in client.get("/api/nothing").json()["error"]


def test_pages_run_no_script_but_their_own(client: TestClient) -> None:
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("headers", [{"Origin": "http://elsewhere.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_forms_of_other_sites_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    assert client.post("/", headers=headers).status_code == 403
