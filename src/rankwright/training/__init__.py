"""Classes that all fits share: the prepared training set, the start, the monitor and the history of rounds."""

from rankwright.training.fit_task import FitTask
from rankwright.training.history import History, Round, smoothed
from rankwright.training.monitor import Monitor
from rankwright.training.start import Start, checked_start
from rankwright.training.training_set import QueryLabels, TrainingSet

__all__ = [
    "FitTask",
    "History",
    "Monitor",
    "QueryLabels",
    "Round",
    "Start",
    "TrainingSet",
    "checked_start",
    "smoothed",
]
