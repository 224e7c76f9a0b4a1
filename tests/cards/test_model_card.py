"""The model card."""

import rankwright as rw
from auto.small_run import small_data
from rankwright.cards.model_card import ModelCard


def test_the_card_of_one_model():
    ranker = rw.LambdaMART(rounds=3, max_leaves=4).fit(small_data())
    card = ModelCard("trees", (ranker.model_,), chosen="by hand", expected="0.5 map", limits=("It is small.",))
    assert card.to_dict()["learned from"] == "183 documents of 24 queries"
    assert card.to_dict()["rounds"] == "3"
    assert card.summary == "trees is LambdaMART: regression trees, whose outputs are added."
    for words in ("how chosen", "by hand", "0.5 map", "max_leaves = 4", "step = none", "It is small."):
        assert words in str(card)


def test_the_card_of_the_models_of_folds():
    parts = small_data(), small_data(12)
    models = tuple(rw.LambdaMART(rounds=2 + n, max_leaves=4).fit(part).model_ for n, part in enumerate(parts))
    facts = ModelCard("trees", models).facts()
    assert facts["what"].endswith("; 2 models, one per fold")
    assert facts["learned from"] == "12 to 24 queries each"
    assert facts["rounds"] == "2 to 3"
    assert "Different from fold to fold: rounds." in " ".join(str(ModelCard("trees", models)).split())
