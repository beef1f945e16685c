"""Pages of incidents: each reads its input, calls one action or a few queries, and picks the answer."""
