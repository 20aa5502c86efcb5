"""Running policies against bandits."""
