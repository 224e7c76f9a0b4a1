"""The five papers, each reproduced by one command: experiments, what was published, and what is reached."""

from rankwright.papers.framework.catalogue import MODULES as MODULES
from rankwright.papers.framework.catalogue import find_paper as find_paper
from rankwright.papers.framework.reproduce import Reproduction as Reproduction
from rankwright.papers.framework.reproduce import reproduce as reproduce
