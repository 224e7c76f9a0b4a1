"""Click models beside CLAX: perplexity and log-likelihood of held-out sessions of the same simulated log.

`python -m benchmarks.click_models` simulates users of two rankers, 500 queries with 10 documents, and fits the
position-based and the user browsing model to three quarters of the sessions, by rankwright and by CLAX, which
stops early, and chooses its learning rate, by a tenth of these sessions. Needs
`pip install clax-models jax==0.7.1`; clax-models 0.1.1 asks for a flax that later versions of jax cannot load.

`--examination` measures instead how near the examination by the position-based model is to the truth, in 50
simulated logs of 200 queries with 8 documents, of two rankers that know the labels up to noise.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import rankwright as rw
from rankwright.clicks.models.fitting import PredictedClicks

if TYPE_CHECKING:
    from collections.abc import Iterator

QUERIES, DOCUMENTS = 500, 10
LOGS = 50  # of examination
BATCH, EPOCHS, RATES = 128, 300, (0.003, 0.03, 0.1)  # of CLAX: sessions per step, most epochs, learning rates


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=["position", "browsing"])
    parser.add_argument("--sessions", nargs="+", type=int, default=[5, 20, 100], help="per query")
    parser.add_argument("--examination", action="store_true", help="bias and coverage of examination")
    options = parser.parse_args(sys.argv[1:] if __name__ == "__main__" else [])
    if options.examination:
        print_examination()
    else:
        print_beside_clax(options)


def print_examination() -> None:
    """Print the mean of the estimate over the truth, and how many 95 % intervals have the truth."""
    print("lists per query  estimate / truth  covered")
    for sessions in (10, 40):
        logs = [examination_beside_truth(seed, sessions) for seed in range(LOGS)]
        ratios, covered = (np.concatenate(each).mean() for each in zip(*logs, strict=True))
        print(f"{sessions:15}  {ratios:16.3f}  {covered:7.1%}", flush=True)


def examination_beside_truth(seed: int, sessions: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the estimate over the truth from position 2 on, and whether the interval has the truth."""
    data = rw.synthetic.polynomial_queries(200, n_documents=8, seed=seed)
    noise = np.random.default_rng(seed).normal(size=(2, len(data)))
    rankers = {"old": data.y + noise[0], "new": data.y + noise[1]}  # attractive documents are shown high
    log = rw.clicks.simulate(data, rankers, sessions=sessions, random_state=seed)
    estimated = rw.clicks.propensities(log)
    truth = 1.0 / estimated.position
    covered = (estimated.low <= truth) & (truth <= estimated.high)
    return (estimated.values / truth)[1:], covered[1:]


def print_beside_clax(options: argparse.Namespace) -> None:
    """Print one line per model, number of sessions and tool."""
    data = rw.synthetic.polynomial_queries(QUERIES, n_documents=DOCUMENTS, seed=1)
    print("model     sessions  tool        log-likelihood  perplexity  seconds")
    for model in options.models:
        for sessions in options.sessions:
            log = rw.clicks.simulate(data, {"old": data.X[:, 0], "new": data.X[:, 1]}, model, sessions=sessions)
            train, test = log.split(0.25)
            for tool, measure in (("rankwright", ours), ("CLAX", clax)):
                begin = time.perf_counter()
                likelihood, perplexity = measure(model, train, test)
                seconds = time.perf_counter() - begin
                values = f"{likelihood:14.4f}  {perplexity:10.4f}  {seconds:7.1f}"
                print(f"{model:8}  {sessions:8}  {tool:10}  {values}", flush=True)


def ours(model: str, train: rw.clicks.ClickLog, test: rw.clicks.ClickLog) -> tuple[float, float]:
    """Return the log-likelihood per list and the perplexity of our model."""
    predicted = PredictedClicks.of(rw.clicks.fit_click_model(train, model), test)
    return predicted.log_likelihood, predicted.perplexity


def clax(model: str, train: rw.clicks.ClickLog, test: rw.clicks.ClickLog) -> tuple[float, float]:
    """Return the same of CLAX's model, with the learning rate that predicts the sessions to stop by best."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):  # its progress
        fits = [clax_fit(model, train, rate) for rate in RATES]
        _, trainer, fitted = min(fits, key=lambda fit: fit[0])
        measured = trainer.test_clicks(fitted, list(batches(test)))
    per_impression = float(measured["test_ll"].iloc[0])
    return per_impression * DOCUMENTS, float(measured["test_ppl"].iloc[0])


def clax_fit(model: str, train: rw.clicks.ClickLog, rate: float) -> tuple[float, Any, Any]:
    """Return the lowest loss of the sessions to stop by, the trainer, and the model."""
    from clax import PositionBasedModel, Trainer, UserBrowsingModel
    from clax.metrics import LogLikelihood
    from flax import nnx
    from flax.training.early_stopping import EarlyStopping
    from optax import adamw

    fitted = {"position": PositionBasedModel, "browsing": UserBrowsingModel}[model](
        positions=DOCUMENTS, query_doc_pairs=QUERIES * DOCUMENTS, rngs=nnx.Rngs(42)
    )
    trainer = Trainer(adamw(rate), EPOCHS, EarlyStopping(patience=2, min_delta=1e-5))
    to_fit, to_stop = (list(batches(part)) for part in train.split(0.1, random_state=1))
    epochs = trainer.train(fitted, to_fit, to_stop, {"ll": LogLikelihood()})
    return float(epochs["val_loss"].min()), trainer, fitted


def batches(log: rw.clicks.ClickLog) -> Iterator[dict[str, np.ndarray]]:
    """Yield the sessions as CLAX reads them, in random order."""
    columns = {
        "query_doc_ids": log.query * DOCUMENTS + log.document,
        "positions": log.position,
        "clicks": log.clicked.astype(np.float32),
        "mask": np.ones(len(log), dtype=bool),
    }
    order = np.random.default_rng(1).permutation(log.n_lists)
    for begin in range(0, log.n_lists, BATCH):
        taken = order[begin : begin + BATCH]
        yield {name: values.reshape(-1, DOCUMENTS)[taken] for name, values in columns.items()}


if __name__ == "__main__":
    main()
