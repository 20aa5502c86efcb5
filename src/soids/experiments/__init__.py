"""Experiments: the files that are shipped, and running one."""
