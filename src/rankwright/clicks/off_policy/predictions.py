"""Predicted clicks for the doubly robust estimator: by a click model of the other half of the sessions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rankwright.clicks.log import ClickLog
from rankwright.clicks.models.fitting import fit_click_model
from rankwright.clicks.off_policy.logged_lists import DCG, POSITION

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Integers
    from rankwright.clicks.models.click_model import ClickModel
    from rankwright.clicks.off_policy.estimators import WeightedRewards
    from rankwright.clicks.off_policy.logged_lists import LoggedLists
    from rankwright.data.dataset import Documents


class CrossFitted:
    """Two click models, each fitted to one half of the sessions, which predict the lists of the other half."""

    def __init__(self, lists: LoggedLists, model: str, random_state: int) -> None:
        log = lists.log
        drawn = np.random.default_rng(random_state).random(len(log.session_ids)) < 0.5
        half = drawn[log.session[log.offsets[:-1]]]
        self.lists, self.half = lists, half.astype(np.int64)
        self.models = [fit_click_model(log.take_lists(half == other), model) for other in (True, False)]
        chances = [fitted.marginal(log) for fitted in self.models]
        self.predicted = np.where(self.half[log.list_of_impression] == 0, *chances) * lists.click_gains

    def applied(self, sample: WeightedRewards, data: Documents, ranks: Integers) -> WeightedRewards:
        """Return rewards with their predictions, and those of the new lists."""
        lists = self.lists
        rows = np.flatnonzero(ranks <= lists.depth[data.groups.query_of_row])
        query = data.groups.query_of_row[rows]
        shown = ClickLog(
            query, data.groups.ids[query], data.document_names[rows], ranks[rows], np.zeros(len(rows))
        )
        by_list = np.bincount(shown.list_of_impression)
        number = shown.session_ids[shown.session[shown.offsets[:-1]]]  # the query in the data of each new list
        expected = np.zeros((2, lists.n_queries))
        for values, model in zip(expected, self.models, strict=True):
            values[number] = np.bincount(
                shown.list_of_impression, self._rewards(model, shown), minlength=len(by_list)
            )
        of_lists = expected[self.half, lists.query_of_list]
        return replace(sample, predicted=self.predicted, expected=of_lists)

    def _rewards(self, model: ClickModel, shown: ClickLog) -> Doubles:
        lists = self.lists
        if lists.assume == POSITION and lists.reward == DCG:
            return model.estimates()["attraction"].in_log(shown) * lists.gains[shown.position]
        gain = 1.0 if lists.assume == POSITION else lists.gains[shown.position]
        return model.marginal(shown) * gain
