from .analysis import Analyser as Analyser
from .index import Index as Index
from .results import Results as Results
from .retrieval import BM25 as BM25
from .retrieval import Dirichlet as Dirichlet
from .retrieval import JelinekMercer as JelinekMercer
