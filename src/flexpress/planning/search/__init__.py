"""`search`, the default solver: annealed ruin and recreate in compiled code."""

from flexpress.planning.search.solve import load, solve_search

__all__ = ["load", "solve_search"]
