"""Work in parallel: processes of this machine, and the machines of a Ray cluster."""
