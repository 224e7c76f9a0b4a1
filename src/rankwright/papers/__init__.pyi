from .framework.catalogue import MODULES as MODULES
from .framework.catalogue import find_paper as find_paper
from .framework.reproduce import reproduce as reproduce
from .framework.reproduction import Reproduction as Reproduction
