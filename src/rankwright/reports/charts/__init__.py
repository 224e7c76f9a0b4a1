"""Charts: plain numbers and names become Vega-Lite specifications, made by Altair and drawn by vl-convert.

`__init__.pyi` lists the public names; each is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
