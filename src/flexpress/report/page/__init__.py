"""Pages of pictures and tables, as one HTML file each."""
