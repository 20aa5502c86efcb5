"""``python -m soids`` looks for modules in the working folder first; results may be there.

A ``matplotlib.py`` among results must not run in place of the installed one. While Python looks for
the package to run, ``sys.argv`` begins with "-m"; what soids itself imports comes after this.
"""

import sys

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
    after = sys.orig_argv.index("-m") + 1 if "-m" in sys.orig_argv else 0
    if sys.orig_argv[after : after + 1] == ["soids"]:
        del sys.path[0]
