"""Moves of the sampler, one a file."""
