from .behaviours import BrowsingAfterClicks as BrowsingAfterClicks
from .behaviours import CascadeBrowsing as CascadeBrowsing
from .behaviours import DependentClicks as DependentClicks
from .behaviours import NoBias as NoBias
from .behaviours import PositionBias as PositionBias
from .behaviours import TrustBias as TrustBias
from .log import ClickLog as ClickLog
from .simulation import simulate as simulate
