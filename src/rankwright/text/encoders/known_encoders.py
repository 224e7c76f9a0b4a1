"""The encoders of an index, and the vectors of queries that they have made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.text.encoders.encoder import Encoder, remembered_encoder, require_same

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankwright.base.arrays import Floats

MAX_QUERIES = 10_000  # whose vectors are kept


class KnownEncoders:
    """Encoders by name: given ones, and those that the index remembers, read again when they are first used."""

    def __init__(self, given: Sequence[Encoder], remembered: Mapping[str, Mapping[str, Any]]) -> None:
        for encoder in given:
            if not isinstance(encoder, Encoder):
                raise InputError(f"encoders must be a list of encoders, not of {type(encoder).__name__}.")
            if encoder.name in remembered:
                require_same(encoder, remembered[encoder.name])
        self._known = {encoder.name: encoder for encoder in given}
        self._remembered = remembered
        self._queries: dict[tuple[str, str], Floats] = {}

    def of(self, remembered: Mapping[str, Mapping[str, Any]]) -> KnownEncoders:
        """Return these encoders for an index that remembers others."""
        others = KnownEncoders((), remembered)
        others._known, others._queries = self._known, self._queries
        return others

    def add(self, encoder: Encoder) -> None:
        """Add an encoder that is the one of the index."""
        self._known[encoder.name] = encoder

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the encoders whose vectors the index has."""
        return iter(self._remembered)

    def __len__(self) -> int:
        return len(self._remembered)

    def __contains__(self, name: object) -> bool:
        return name in self._remembered

    def __getitem__(self, name: str) -> Encoder:
        self.named(name)
        if name not in self._known:
            self._known[name] = remembered_encoder(name, self._remembered[name])
        return self._known[name]

    def named(self, name: str | None) -> str:
        """Return the name of an encoder whose vectors the index has, that of the only one if none is given."""
        names = [*self._remembered]
        if not names:
            raise InputError(
                "The index has no vectors: encode its documents first (Index.encode, index --encoder)."
            )
        if name is None and len(names) > 1:
            raise InputError(f"The index has vectors of several encoders, {', '.join(names)}: name one of them.")
        if name is not None and name not in names:
            has = ", ".join(names)
            raise InputError(f"The index has no vectors of an encoder {name!r}, only of: {has}; see Index.encode.")
        return name or names[0]

    def checksums(self) -> dict[str, Any]:
        """Return what tells each encoder from others of its name."""
        return {name: [known["checksum"], known["probe"]] for name, known in self._remembered.items()}

    def queries(self, name: str, texts: Sequence[str]) -> Floats:
        """Return the vectors of queries; each is encoded once."""
        new = [text for text in dict.fromkeys(texts) if (name, text) not in self._queries]
        made = self[name].queries(new) if new else ()
        vectors = {(name, text): vector for text, vector in zip(new, made, strict=True)}
        known = self._queries | vectors
        if len(known) > MAX_QUERIES:
            self._queries.clear()
        else:
            self._queries.update(vectors)
        dimensions = self._remembered[name]["dimensions"]
        return np.array([known[name, text] for text in texts], np.float32).reshape(len(texts), dimensions)
