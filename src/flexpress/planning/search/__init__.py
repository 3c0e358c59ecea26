"""`search`, the default solver: annealed ruin and recreate in compiled code."""

from flexpress.planning.search.solve import lowest_energy, solve_search

__all__ = ["lowest_energy", "solve_search"]
