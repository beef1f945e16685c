"""How an incident is presented: what its page shows, worked out from what is true of it now."""
