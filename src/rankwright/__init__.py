"""Learning to rank by boosting: the classic papers' methods as a small, fast, honest tool.

`__init__.pyi` lists the public names, once. Each is imported when it is first used, so that `import rankwright`
and `rankwright.load` stay quick and bring no training code.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
