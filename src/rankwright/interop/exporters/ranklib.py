"""RankLib's model file: ensembles of trees as XML, linear models as one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwright.interop.exporters.target_rules import numbered
from rankwright.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from rankwright.models.linear import LinearScorer


def ranklib_text(model: TreeEnsemble | LinearScorer) -> str:
    """Return the text of a LambdaMART model, or of a linear one."""
    return _trees(model) if isinstance(model, TreeEnsemble) else _linear(model)


def _linear(model: LinearScorer) -> str:
    used = model.used_features.tolist() or [0]
    entries = [f"0:{model.intercept!r}", *(f"{column + 1}:{model.weights[column].item()!r}" for column in used)]
    return "## Linear Regression\n## Lambda = 0.0\n" + " ".join(entries)


def _trees(trees: TreeEnsemble) -> str:
    lines = ["## LambdaMART", f"## No. of trees = {trees.n_trees}", "## Learning rate = 1.0", "", "<ensemble>"]
    for number, place in enumerate(numbered(trees)):
        root = _root(trees, number, place)
        lines += [f'\t<tree id="{number + 1}" weight="1.0">', f"<split>{root}</split>", "\t</tree>"]
    return "\n".join([*lines, "</ensemble>", ""])


def _root(trees: TreeEnsemble, number: int, place: slice) -> str:
    """Return what is inside the root's tag; children come after their parents, so the last split is first made."""
    values = trees.leaf_value[place.start + number : place.stop + number + 1].tolist()
    nodes = {-1 - leaf: f"<output> {value!r} </output>" for leaf, value in enumerate(values)}
    for split in range(place.stop - place.start - 1, -1, -1):
        at = place.start + split
        left, right = nodes.pop(int(trees.left[at])), nodes.pop(int(trees.right[at]))
        nodes[split] = (
            f"<feature> {trees.feature[at] + 1} </feature>\n"
            f"<threshold> {float(trees.threshold[at])!r} </threshold>\n"
            f'<split pos="left">{left}</split>\n<split pos="right">{right}</split>\n'
        )
    return nodes.popitem()[1]
