"""From text to a ranked list: collections, analysis of text, an inverted index with positions, and retrieval.

`__init__.pyi` lists the public names, once; each is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
