"""Pictures, tables and files out of plans."""
