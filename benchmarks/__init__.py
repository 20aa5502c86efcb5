"""Measurements of soids beside other libraries and beside the machine it runs on.

Run ``python -m benchmarks`` from the top of the repository. The other libraries are optional: a
benchmark leaves out those that are not installed, and names them.
"""
