"""Learning to rank by boosting: the classic papers' methods as a small, fast, honest tool.

What is deployed needs no training code: a name is imported when it is first used, so that `import rankwright`
and `rankwright.load` stay quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankwright.version import __version__

if TYPE_CHECKING:
    from rankwright import bounds, metrics
    from rankwright.data import (
        Documents,
        QueryGroups,
        RankingData,
        from_arrow,
        from_pandas,
        from_polars,
        read_csv,
        read_fold,
        read_judgements,
        read_letor,
        read_parquet,
        read_run,
        synthetic,
        write_letor,
        write_run,
    )
    from rankwright.ensembling.blend import Blend, blend
    from rankwright.ensembling.exponential import mix_exponentially
    from rankwright.ensembling.standardised import mix_standardised
    from rankwright.errors import InputError, MissingPackageError
    from rankwright.evaluation import (
        Report,
        compare,
        cross_validate,
        evaluate,
        evaluate_rounds,
        permutation_importance,
    )
    from rankwright.evaluation.dcg_bound import dcg_loss
    from rankwright.evaluation.diversity import calibration_diversity
    from rankwright.evaluation.reliability import Reliability, plot_reliability, reliability
    from rankwright.models import Scorer, load, save
    from rankwright.rankers import (
        MART,
        AdaBoostMH,
        AdaRank,
        CalibratedAdaBoost,
        LambdaMART,
        LambdaRank,
        ListNet,
        McRank,
        MPBoost,
        PermuRank,
        RankBoost,
        RankNet,
        RankSVM,
        SVMmap,
    )
    from rankwright.rankers.exact_step import ExactStep

_HOMES = {
    "rankwright.ensembling": ("Blend", "blend", "mix_exponentially", "mix_standardised"),
    "rankwright.data": (
        "Documents",
        "QueryGroups",
        "RankingData",
        "from_arrow",
        "from_pandas",
        "from_polars",
        "read_csv",
        "read_fold",
        "read_judgements",
        "read_letor",
        "read_parquet",
        "read_run",
        "synthetic",
        "write_letor",
        "write_run",
    ),
    "rankwright.errors": ("InputError", "MissingPackageError"),
    "rankwright.evaluation": (
        "Reliability",
        "Report",
        "calibration_diversity",
        "compare",
        "cross_validate",
        "dcg_loss",
        "plot_reliability",
        "evaluate",
        "evaluate_rounds",
        "permutation_importance",
        "reliability",
    ),
    "rankwright.models": ("Scorer", "load", "save"),
    "rankwright.rankers": (
        "AdaBoostMH",
        "AdaRank",
        "CalibratedAdaBoost",
        "LambdaMART",
        "LambdaRank",
        "ListNet",
        "MART",
        "MPBoost",
        "McRank",
        "PermuRank",
        "RankBoost",
        "RankNet",
        "RankSVM",
        "SVMmap",
    ),
    "rankwright.rankers.exact_step": ("ExactStep",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: RUF022  # by home, as above
    "__version__",
    "bounds",
    "metrics",
    "AdaBoostMH",
    "AdaRank",
    "Blend",
    "CalibratedAdaBoost",
    "Documents",
    "ExactStep",
    "InputError",
    "LambdaMART",
    "LambdaRank",
    "ListNet",
    "MART",
    "MPBoost",
    "McRank",
    "MissingPackageError",
    "PermuRank",
    "QueryGroups",
    "RankBoost",
    "RankNet",
    "RankSVM",
    "RankingData",
    "Reliability",
    "Report",
    "SVMmap",
    "Scorer",
    "blend",
    "calibration_diversity",
    "compare",
    "cross_validate",
    "dcg_loss",
    "plot_reliability",
    "evaluate",
    "evaluate_rounds",
    "from_arrow",
    "from_pandas",
    "from_polars",
    "load",
    "mix_exponentially",
    "mix_standardised",
    "permutation_importance",
    "read_csv",
    "read_fold",
    "read_judgements",
    "read_letor",
    "read_parquet",
    "read_run",
    "reliability",
    "save",
    "synthetic",
    "write_letor",
    "write_run",
]


def __getattr__(name: str) -> Any:
    if name in ("bounds", "metrics"):
        return import_module(f"rankwright.{name}")
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module 'rankwright' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
