"""Figures, tables, pages and maps of plans and runs."""
