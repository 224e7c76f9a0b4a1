"""The routes of the judging page: the page itself, the next document, a judgement, undo."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec

from rankwright.base.errors import InputError
from rankwright.judgements.judging.journal import JournalLine
from rankwright.serve.http.exchange import PAGE_POLICY, PAGE_TYPE, Decoder, RefusalError, Response, Route

if TYPE_CHECKING:
    from rankwright.judgements.judging.session import JudgeState, JudgingSession
    from rankwright.serve.http.exchange import Exchange

NOT_SAVED = 507  # "Insufficient Storage" (RFC 4918)
TAG = "Judging"


class JudgementRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What a judge does with a document: a grade, or a skip, and perhaps a note."""

    judge: str
    query: str
    document: str
    grade: float | None = None
    skipped: bool = False
    note: str = ""


class UndoRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The judge who takes back the last judgement."""

    judge: str


_judged, _undone = Decoder(JudgementRequest), Decoder(UndoRequest)


async def page(_session: JudgingSession, exchange: Exchange) -> Response:
    """Return the page, which holds no data: the token is in the part of the address that browsers do not send."""
    exchange.query()
    return Response(_page(), media_type=PAGE_TYPE, headers=PAGE_POLICY)


@cache
def _page() -> bytes:
    style = (files("rankwright.reports") / "templates" / "page.css").read_text(encoding="utf-8")
    template = (files("rankwright.judgements") / "judging" / "page.html").read_text(encoding="utf-8")
    return template.replace("/* style */", style).encode()


async def task(session: JudgingSession, exchange: Exchange) -> Response:
    """Return the next document of a judge."""
    given = exchange.query("judge", "skipped")
    return Response.json(_task(session, given.get("judge", ""), skipped=given.get("skipped") == "true"))


async def judged(session: JudgingSession, exchange: Exchange) -> Response:
    """Save a judgement, then return the next document."""
    given = _judged(await exchange.body())
    after_skipped = exchange.query("skipped").get("skipped") == "true"
    line = JournalLine(
        given.judge.strip(), given.query, given.document, given.grade, given.skipped, given.note.strip()
    )
    _saved(session.record, line)
    return Response.json(_task(session, given.judge, skipped=after_skipped))


async def undone(session: JudgingSession, exchange: Exchange) -> Response:
    """Withdraw the last judgement of a judge, then return its document."""
    given = _undone(await exchange.body())
    exchange.query()
    line = _saved(session.undo, given.judge)
    return Response.json(_shown(session, given.judge, (line.query, line.document), note=line.note))


def _saved(change: Any, given: Any) -> Any:
    """Make a change; say so if it could not be written. It is written here, so that one follows the other."""
    try:
        return change(given)
    except OSError as error:
        reason = error.strerror or str(error)
        raise RefusalError(NOT_SAVED, f"Not saved: the file cannot be written ({reason}).") from None


def _task(session: JudgingSession, judge: str, *, skipped: bool) -> dict[str, Any]:
    state = session.state_of(judge)
    pair = state.next_pair(skipped=skipped)
    before = None if pair is None else state.lines.get(pair)  # it was skipped, perhaps with a note
    return _shown(session, judge, pair, note="" if before is None else before.note)


def _shown(session: JudgingSession, judge: str, pair: tuple[str, str] | None, note: str = "") -> dict[str, Any]:
    """Return a document as the page shows it, and how far the judge is."""
    state = session.state_of(judge)
    agreed = session.agreement()
    return {
        "judge": judge.strip(),
        "document": None if pair is None else _document(session, state, pair, note),
        "scale": [{"grade": grade, "name": name} for grade, name in session.scale.items()],
        "progress": {
            "graded": sum(not line.skipped for line in state.lines.values()),
            "skipped": sum(line.skipped for line in state.lines.values()),
            "total": len(state.order),
            "queries": len(session.pool.documents),
        },
        "can_undo": state.last is not None,
        "judges": session.graded(),
        "agreement": None if agreed is None else agreed._asdict(),
    }


def _document(session: JudgingSession, state: JudgeState, pair: tuple[str, str], note: str) -> dict[str, Any]:
    query, document = pair
    others = session.pool.documents[query]
    try:
        fields = [field._asdict() for field in session.pool.text(query, document)]
    except InputError as error:  # it was removed from the index
        fields = [{"name": "", "paragraphs": [[str(error)]]}]
    return {
        "query": query,
        "words": session.pool.queries[query],
        "number": list(session.pool.documents).index(query) + 1,
        "document": document,
        "position": 1 + sum((query, other) in state.lines for other in others if other != document),
        "of": len(others),
        "fields": fields,
        "note": note,
    }


ROUTES = (
    Route("GET", "/", page, None, TAG, "The page", public=True),
    Route("GET", "/task", task, None, TAG, "The next document", parameters=("judge", "skipped")),
    Route("POST", "/judgements", judged, None, TAG, "Save a judgement", JudgementRequest, parameters=("skipped",)),
    Route("POST", "/undo", undone, None, TAG, "Withdraw the last judgement", UndoRequest),
)
