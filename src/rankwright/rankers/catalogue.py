"""Rankers by name: how the command line, configurations and nested parameters make them."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, require_type
from rankwright.base.wording import nearest
from rankwright.rankers.parameters.checks import Flag, read_json
from rankwright.rankers.parameters.declaration import Parameter, require_known

if TYPE_CHECKING:
    from rankwright.rankers.ranker import Ranker


def known_rankers() -> dict[str, type[Ranker]]:
    """Return every public ranker by name."""
    import rankwright  # here and not above: some of its rankers import this module
    from rankwright.rankers.ranker import Ranker

    public = (getattr(rankwright, name) for name in dir(rankwright))
    return {kind.name: kind for kind in public if inspect.isclass(kind) and issubclass(kind, Ranker)}


def find_ranker(name: str) -> type[Ranker]:
    """Return the class of the ranker of that name; case, hyphens, underscores and dots do not matter.

    The name of its class finds a ranker without importing any other. Another name, such as `auto`, is compared
    with the names of all rankers.
    """
    import rankwright
    from rankwright.rankers.ranker import Ranker

    require_type(name, str, "Name a ranker by a string such as 'lambdamart'")
    public = {_bare(attribute): attribute for attribute in dir(rankwright)}
    match = getattr(rankwright, public.get(_bare(name), ""), None)
    if inspect.isclass(match) and issubclass(match, Ranker):
        return match
    known = known_rankers()
    by_name = {_bare(known_name): kind for known_name, kind in known.items()}
    if _bare(name) not in by_name:
        raise InputError(f"There is no ranker {name!r}{nearest(name.lower(), known)}")
    return by_name[_bare(name)]


def make_ranker(name: str, /, *, as_printed: bool | str = False, **parameters: Any) -> Ranker:
    """Return the ranker of that name with these parameters: `make_ranker("LambdaMART", metric="map", rounds=100)`.

    Case, hyphens, underscores and dots of the name do not matter: `lambda-mart`, `AdaBoost.MH`. Text is read as
    after `--set` on the command line; values out of range are refused at once. With `as_printed`, other parameters
    are those of the ranker's paper.

    Examples
    --------
    >>> rw.make_ranker("lambda-mart", metric="map", rounds=100)
    LambdaMART(metric=AP(), rounds=100)
    >>> rw.make_ranker("AdaRank", as_printed=True)
    AdaRank(all_queries=True, choose='measure', stop='measure')
    """
    kind = find_ranker(name)
    require_known(kind, parameters)
    checked = {key: _checked(kind.declared[key], given) for key, given in parameters.items()}
    return kind.as_printed(**checked) if Flag().take("as_printed", as_printed) else kind(**checked)


def read_ranker(given: Any) -> Any:
    """Return the ranker that a text or a dict names: `mart`, or `{"ranker": "mart", "rounds": 50}`.

    Anything else is returned as it is.
    """
    value = read_json(given)
    if not isinstance(value, Mapping):
        return make_ranker(given) if isinstance(given, str) else given
    if not isinstance(value.get("ranker"), str):
        raise InputError(f'A ranker is spelled {{"ranker": "mart", "rounds": 50}}, not {json.dumps(value)}.')
    parameters = {name: item for name, item in value.items() if name != "ranker"}
    return make_ranker(value["ranker"], **parameters)


def as_ranker(given: Any) -> Ranker:
    """Return a ranker, given as one or as `read_ranker` takes it; refuse anything else."""
    from rankwright.rankers.ranker import Ranker

    ranker = read_ranker(given)
    require_type(ranker, Ranker, "Give a ranker, such as LambdaMART() or 'lambdamart'")
    return ranker  # type: ignore[no-any-return]


def _bare(name: str) -> str:
    return re.sub(r"[\s._-]", "", name.lower())


def _checked(declared: Parameter, given: Any) -> Any:
    """Return the value of a parameter, or refuse it."""
    if isinstance(given, str):
        return declared.check.parse(declared.name, given)
    declared.check.take(declared.name, given)
    return given
