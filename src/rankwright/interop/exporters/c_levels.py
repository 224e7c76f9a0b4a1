"""The function of a C header that sets the features of a categorical column by the name of a level."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.models.serialisation import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

SET_LEVEL = """\
/* Sets the features of a categorical column by its level, both texts in UTF-8. Returns 1, or 0 if there is no such
   column or level; an unknown level, and NULL, count as missing. */
static inline int NAME_set_level(float *features, const char *column, const char *level) {
  static const struct { const char *level; int32_t feature; float value; } levels[] = {
LEVELS  };
  int32_t first, end;
  COLUMNS
  while (level != NULL && first < end) {
    const int32_t middle = first + (end - first) / 2;
    const int order = strcmp(level, levels[middle].level);
    if (order == 0) {
      features[levels[middle].feature] = levels[middle].value;
      return 1;
    }
    if (order < 0)
      end = middle;
    else
      first = middle + 1;
  }
  return 0;
}

"""


def set_level_function(columns: Mapping[str, Mapping[str, Any]], name: str) -> str:
    """Return the function that sets features by levels, which it searches in the order of `strcmp`."""
    levels: list[str] = []
    branches: list[str] = []
    for column, encoding in columns.items():
        first = len(levels)
        for level, features in sorted(encoding["levels"].items(), key=lambda item: item[0].encode()):
            [(feature, value)] = features.items()
            levels.append(f"    {{{_text(level)}, {feature}, {value}.0f}},\n")
        unset = {feature: "NAN" if value is None else "0.0f" for feature, value in encoding["otherwise"].items()}
        statements = [f"features[{feature}] = {value};\n    " for feature, value in unset.items()]
        statements += [f"first = {first};\n    end = {len(levels)};\n  "]
        branches.append(f"if (strcmp(column, {_text(column)}) == 0) {{\n    {''.join(statements)}}}")
    branches.append("{\n    return 0;\n  }")
    parts = {"NAME_": f"{name}_", "COLUMNS": " else ".join(branches)}
    parts["LEVELS"] = "".join(levels) or '    {"", 0, 0.0f},\n'
    return re.sub("|".join(parts), lambda word: parts[word[0]], SET_LEVEL)


def _text(text: str) -> str:
    """Return a text in C, all but plain characters as octal numbers of their bytes."""
    if "\0" in text:
        raise InputError(f"{shown(text)} has a zero character, which ends texts in C; rename it.")
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}" for byte in text.encode())
    return f'"{"".join(plain)}"'
