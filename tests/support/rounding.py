"""How sums round on this machine: import this module before NumPy.

The order of a sum depends on the number of threads and on the kernels of OpenBLAS, which differ
between processors. These variables make all x86 processors with AVX2 round alike, unless they are
set already.
"""

import os

VARIABLES = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Haswell"}
for name, value in VARIABLES.items():
    os.environ.setdefault(name, value)
