"""Documents to index in tests."""

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from rankwright.base.array_files import ArrayFile, ArrayWriter
from rankwright.text.index.manifest import read_manifest, write_manifest

# Few words, so that documents share them and scores tie; one is a stop word, one has two forms.
VOCABULARY = ("ship", "ships", "sea", "the", "état", "漢字", "x", "harbour")


@dataclass(frozen=True)
class Text:
    id: str
    fields: dict[str, str]


def texts(bodies, prefix="d", field="body"):
    return [Text(f"{prefix}{number}", {field: body}) for number, body in enumerate(bodies)]


def bodies(most=30, words=12):
    """Return a strategy for the texts of documents."""
    return st.lists(st.lists(st.sampled_from(VOCABULARY), max_size=words).map(" ".join), max_size=most)


def stored_arrays(folder, number=0):
    """Return the arrays of a segment by name, as copies."""
    entry = read_manifest(folder).segments[number]
    file = ArrayFile(folder / entry.file, entry.checksum)
    return {name: file.array(name, dtype, len(shape)).copy() for name, (dtype, shape, _) in file._entries.items()}


def write_arrays(folder, arrays, number=0):
    """Replace the arrays of a segment by others; all checksums are right."""
    manifest = read_manifest(folder)
    segments = [*manifest.segments]
    path = folder / segments[number].file
    path.unlink()  # who has it open keeps it
    with path.open("wb") as file:
        writer = ArrayWriter(file)
        for name, array in arrays.items():
            writer.add(name, array)
        segments[number] = replace(segments[number], checksum=writer.finish())
    write_manifest(folder, replace(manifest, segments=tuple(segments)))
