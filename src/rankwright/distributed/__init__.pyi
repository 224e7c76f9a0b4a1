from .checkpoint import Checkpoint as Checkpoint
from .dask import Dask as Dask
from .processes import Processes as Processes
from .ray import Ray as Ray
from .whole_fits import fits_on as fits_on
