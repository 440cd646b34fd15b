"""What the operations and the runner of a server of pages share."""

from __future__ import annotations

from dicegym.sandbox import jail
from dicegym.web.context import Web
from dicegym.web.enter.bots import Bots
from dicegym.web.enter.course_contests import WebContests
from dicegym.web.enter.runner import Runner
from dicegym.web.enter.submission_tables import SubmissionStore
from dicegym.web.enter.tokens import Tokens

FOLDER = "entering"
"""Below that of the server."""


class EnteringRoom:
    """All that is kept of tokens, bots and contests."""

    def __init__(self, web: Web) -> None:
        self.isolation = web.settings.isolation
        self.desk = SubmissionStore(web.folder(FOLDER))
        self.tokens = Tokens(self.desk)
        self.bots = Bots(self.desk)
        self.contests = WebContests(self.desk)
        self.runner = Runner(self.desk, web.settings)
        web.open_contests.append(self.contests.is_open)
        web.on_start.append(self.runner.start)
        web.on_stop.append(self.desk.close)
        web.on_stop.append(self.runner.stop)

    @property
    def shut(self) -> str:
        """Why no bots are taken, in words; empty if they are: nothing of strangers runs where nothing holds it."""
        why = jail.probe(self.isolation)
        return f"no bots can be handed in here, as nothing would hold them: {why}" if why else ""
