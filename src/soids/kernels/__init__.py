"""Compiled code: plain functions on arrays, without objects and without randomness.

Random numbers are drawn outside and passed in, one row per particle, so that a result depends
neither on the compiler nor on the number of threads.
"""
