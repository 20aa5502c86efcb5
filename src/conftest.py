"""Examples in docstrings are executed; peers have none, and their libraries may be absent."""

collect_ignore_glob = ["soids/bench/peers/from_*.py"]
