"""What a fit prepares and what watches it: the start of boosting, the monitor, the history of rounds."""

from rankwright.training.monitor import History, Monitor, Round, smoothed
from rankwright.training.start import Start, checked_start

__all__ = ["History", "Monitor", "Round", "Start", "checked_start", "smoothed"]
