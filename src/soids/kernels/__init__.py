"""Everything compiled: plain functions on arrays, no objects, no randomness.

Random numbers are drawn outside and passed in, one row per particle, so a result depends neither on
the compiler nor on the number of threads.
"""
