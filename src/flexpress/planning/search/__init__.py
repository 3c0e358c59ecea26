"""`search`, the default solver: annealed ruin and recreate in compiled code."""

from flexpress.planning.search.solve import solve_search

__all__ = ["solve_search"]
