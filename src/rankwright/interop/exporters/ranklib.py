"""RankLib's model file: ensembles of trees as XML, linear models as one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwright.interop.exporters.target_rules import nested
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
    def split(index: int, left: str, right: str) -> str:
        threshold = repr(float(trees.threshold[index])).replace("inf", "Infinity")  # as Java reads it
        return (
            f"<feature> {trees.feature[index] + 1} </feature>\n"
            f"<threshold> {threshold} </threshold>\n"
            f'<split pos="left">{left}</split>\n<split pos="right">{right}</split>\n'
        )

    roots = nested(trees, trees.left, trees.right, split, lambda value, _number: f"<output> {value!r} </output>")
    lines = ["## LambdaMART", f"## No. of trees = {trees.n_trees}", "## Learning rate = 1.0", "", "<ensemble>"]
    for number, root in enumerate(roots, start=1):
        lines += [f'\t<tree id="{number}" weight="1.0">', f"<split>{root}</split>", "\t</tree>"]
    return "\n".join([*lines, "</ensemble>", ""])
