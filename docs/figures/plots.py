"""Draw the charts of docs/plots.md: `python docs/figures/plots.py` writes them beside this file."""

from pathlib import Path

import rankwright as rw


def main() -> None:
    """Fit the rankers of the page, and save their charts."""
    truth = rw.synthetic.RandomPolynomial.draw(1, n_features=20, n_active=8, n_terms=10, degree=2)
    train, valid, test = (truth.sample(100, seed=seed, n_documents=20) for seed in (1, 2, 3))
    trees = rw.LambdaMART("ndcg@10", rounds=60).fit(train, validation=valid)
    linear = rw.RankSVM().fit(train)
    report = rw.evaluate({"LambdaMART": trees, "RankSVM": linear}, test, metrics="ndcg@10")
    charts = {
        "means": report.chart(),
        "differences": report.difference_chart("LambdaMART", "RankSVM"),
        "rounds": trees.history_.chart("ndcg@10"),
    }
    for name, chart in charts.items():
        chart.save(Path(__file__).with_name(f"plots-{name}.svg"))


if __name__ == "__main__":
    main()
