"""The five papers, each reproduced by one command: experiments, what was published, and what is reached."""

from rankwright.papers.catalogue import MODULES as MODULES
from rankwright.papers.catalogue import find_paper as find_paper
from rankwright.papers.reproducing import Reproduction as Reproduction
from rankwright.papers.reproducing import reproduce as reproduce
