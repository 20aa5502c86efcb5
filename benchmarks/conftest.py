"""The examples in docstrings are executed, except in modules whose libraries may be missing."""

collect_ignore_glob = ["peers/from_*.py", "conic.py"]
