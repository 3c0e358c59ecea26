"""Tables for the terminal, and the same figures as JSON."""
