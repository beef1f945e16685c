"""Pages of sessions: one page, one address, one view, one template."""
