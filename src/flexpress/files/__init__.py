"""Files and folders: read and written whole, locked, and known by who wrote them."""
