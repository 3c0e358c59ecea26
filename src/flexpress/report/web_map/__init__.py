"""The map of a plan as one HTML file with a clock."""
