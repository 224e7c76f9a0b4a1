"""Search: documents of the index for a query in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from rankwright.serve.http.exchange import Decoder, RefusalError, Response
from rankwright.serve.http.request_bodies import read_address, read_json
from rankwright.serve.protocols.messages import Found, SearchRequest, SearchResponse

if TYPE_CHECKING:
    from rankwright.serve.http.exchange import Exchange
    from rankwright.serve.service import Service
    from rankwright.text.searcher import Searcher

_search_request = Decoder(SearchRequest)


async def search(service: Service, exchange: Exchange) -> Response:
    """Search for a query in the body."""
    return await _search(service, await read_json(exchange, _search_request))


async def search_by_address(service: Service, exchange: Exchange) -> Response:
    """Search for a query in the query string."""
    given = read_address(exchange, "q", "n", "snippets", "model", "version")
    if "q" not in given:
        raise RefusalError(400, "Give the query as the parameter q.")
    try:
        request = msgspec.convert({"query": given.pop("q"), **given}, SearchRequest)
    except msgspec.ValidationError as error:
        raise RefusalError(400, f"A parameter after ? is invalid: {error}.") from None
    return await _search(service, request)


async def _search(service: Service, request: SearchRequest) -> Response:
    assert service.search is not None  # otherwise there is no such route
    searcher = service.search.searcher(request.model, request.version)
    return Response.json(await service.in_thread(_results, searcher, request))


def _results(searcher: Searcher, request: SearchRequest) -> SearchResponse:
    """Return the results of a query."""
    results = searcher.search(request.query, int(request.n))
    documents = [Found(rank, name, score) for rank, (name, score) in enumerate(results, start=1)]
    if request.snippets and searcher.index.has_text:
        for document, part in zip(documents, searcher.snippets(request.query, results), strict=True):
            document.field, document.snippet, document.marks = part.field, part.text, [*part.marks]
    return SearchResponse(documents)
