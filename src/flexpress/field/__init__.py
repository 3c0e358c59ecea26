"""The field programs: a server, couriers and clients that learn although two of them never meet."""
