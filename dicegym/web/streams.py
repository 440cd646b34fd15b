"""Pages that stay live: one source for all who look at the same thing, told to browsers by server-sent events.

What is told is always the present state, by the event's name: whoever comes later gets the last of each at once, and
whoever reads slowly gets the newest, and holds no more memory than one text for each name.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from dicegym.web.workers import TooBusyError

HEARTBEAT = 15.0
"""Seconds after which a listener hears something, so that both sides know of each other."""
LISTENERS = 1000
"""Of all channels together."""
OF_ONE = 12
"""Of one visitor: a browser opens six to a server at most, and may be two."""
LINGERS = 2.0
"""Seconds that a source goes on after its last listener left: pages that are loaded again find it warm."""
RETRY = 3000
"""Milliseconds after which a browser comes again that lost its connection."""

Tell = Callable[[str, str], None]
"""Told an event's name and its text, from the source's own coroutine."""
Feed = Callable[[Tell], Awaitable[None]]
"""Tells what happens until it returns; then the channel is over, and its listeners are told ``over``."""
_log = logging.getLogger("dicegym.web")


class LiveChannel:
    """One source and its listeners."""

    def __init__(self) -> None:
        self.last: dict[str, str] = {}
        """The last text of each event."""
        self.listeners: set[LiveListener] = set()
        self.ended = False

    def tell(self, event: str, text: str) -> None:
        """Tell all listeners, unless they know already."""
        if self.last.get(event) == text:
            return
        self.last[event] = text
        for one in self.listeners:
            one.news[event] = text
            one.woken.set()

    def end(self) -> None:
        """Let all listeners go."""
        self.ended = True
        for one in self.listeners:
            one.woken.set()


class LiveListener:
    """Somebody who has a page open."""

    def __init__(self, known: dict[str, str]) -> None:
        self.news = dict(known)
        self.woken = asyncio.Event()
        if known:
            self.woken.set()


class LiveChannels:
    """All that is being watched, by a key for each source.

    Args:
        heartbeat: seconds after which a listener hears something.
        lingers: seconds that a source goes on without listeners.
    """

    def __init__(self, heartbeat: float = HEARTBEAT, lingers: float = LINGERS) -> None:
        self._heartbeat, self._lingers = heartbeat, lingers
        self._open: dict[str, tuple[LiveChannel, asyncio.Task[None]]] = {}
        self._of: dict[str, int] = {}
        self._ended = False

    @property
    def listeners(self) -> int:
        """How many listen, to all channels together."""
        return sum(self._of.values())

    def stream(self, request: Request, key: str, source: Feed) -> Response:
        """Answer a request by what a source tells; it is started if nobody else listens to the same key.

        Raises:
            TooBusyError: too many listen, or the server is about to end.
        """
        visitor = request.state.visitor
        if self._ended or self.listeners >= LISTENERS:
            raise TooBusyError("too many pages are live already: load this one again now and then")
        if self._of.get(visitor, 0) >= OF_ONE:
            raise TooBusyError(f"{OF_ONE} of your pages are live already: close one of them")
        return StreamingResponse(
            self._events(visitor, key, source),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},  # the latter for nginx
        )

    def end(self) -> None:
        """Let everybody go, and end all sources; new listeners are refused."""
        self._ended = True
        for channel, task in self._open.values():
            task.cancel()
            channel.end()

    def _channel(self, key: str, source: Feed) -> LiveChannel:
        known = self._open.get(key)
        if known is not None and not known[0].ended:
            return known[0]
        channel = LiveChannel()
        self._open[key] = channel, asyncio.create_task(self._feed(key, channel, source))
        return channel

    async def _feed(self, key: str, channel: LiveChannel, source: Feed) -> None:
        try:
            await source(channel.tell)
            channel.tell("over", "")
        except Exception:
            _log.exception("the source of %s failed", key)
        finally:
            channel.end()
            if self._open.get(key, (None,))[0] is channel:
                del self._open[key]

    async def _events(self, visitor: str, key: str, source: Feed) -> AsyncIterator[str]:
        channel = self._channel(key, source)
        one = LiveListener(channel.last)
        channel.listeners.add(one)
        self._of[visitor] = self._of.get(visitor, 0) + 1
        try:
            yield f"retry: {RETRY}\n\n"
            while True:
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(one.woken.wait(), self._heartbeat)
                one.woken.clear()
                news, one.news = one.news, {}
                yield "".join(_written(event, text) for event, text in news.items()) or ": here\n\n"
                if channel.ended and not one.news:
                    return
        finally:
            channel.listeners.discard(one)
            self._of[visitor] -= 1
            if not self._of[visitor]:
                del self._of[visitor]
            if not channel.listeners and not channel.ended:
                asyncio.get_running_loop().call_later(self._lingers, self._leave, key, channel)

    def _leave(self, key: str, channel: LiveChannel) -> None:
        """End a source to which nobody has come back."""
        known: Any = self._open.get(key)
        if known is not None and known[0] is channel and not channel.listeners:
            known[1].cancel()


def _written(event: str, text: str) -> str:
    return f"event: {event}\n" + "".join(f"data: {line}\n" for line in text.splitlines() or [""]) + "\n"
