"""Judgements by several judges: agreement, merged labels, judges that stand apart, what to judge next.

`__init__.pyi` lists the public names; each is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
