"""The settings of the site; `make site` builds it from the pages that `pages.py` gathers."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import rankwright as rw

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "rankwright"
author = "The rankwright authors"
release = version = rw.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]

highlight_language = "none"
myst_heading_anchors = 4
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# In docstrings a single backtick marks code, as in the Markdown of the pages.
default_role = "literal"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # the descriptions say them in words
napoleon_google_docstring = False
napoleon_use_param = napoleon_use_rtype = False  # types are words, not links

html_theme = "pydata_sphinx_theme"
html_title = "rankwright"
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = html_show_sourcelink = html_use_index = False
html_theme_options = {
    "header_links_before_dropdown": 8,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "footer_start": [],
    "footer_end": [],
    # The tables of the papers are wide.
    "secondary_sidebar_items": {
        "*": ["page-toc"],
        "reference/*": ["page-toc"],
        "gallery/*": ["page-toc"],
        "papers/*": [],
    },
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}

exclude_patterns = ["examples"]
sphinx_gallery_conf = {
    "examples_dirs": "examples",  # a copy: examples write files
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py",
    "image_scrapers": ("gallery.charts",),
    "reset_modules": ("gallery.name_the_file",),
    "capture_repr": (),  # the examples print what they show
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,
}


def _only_ours(_app: Any, what: str, name: str, member: Any, skip: bool, _options: Any) -> bool:
    """Leave out what classes inherit from elsewhere, such as scikit-learn's methods."""
    module = getattr(getattr(member, "fget", member), "__module__", None) or "rankwright"
    plumbing = name == "get_metadata_routing" or (name.startswith("set_") and name.endswith("_request"))
    return skip or plumbing or (what == "class" and not module.startswith("rankwright"))


def _declared(_app: Any, what: str, _name: str, value: Any, *_: Any) -> tuple[str, str] | None:
    """Return a class's signature without annotations; that of a ranker comes from its declared parameters."""
    if what != "class" or issubclass(value, BaseException):
        return None
    signature = inspect.signature(value)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    spelled = str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    return re.sub(r"<(?:[^<>]|<[^<>]*>)*>", "...", spelled), ""


def setup(app: Any) -> None:
    """Connect what the settings cannot say."""
    app.connect("autodoc-skip-member", _only_ours)
    app.connect("autodoc-process-signature", _declared)
