"""Webhooks: who wants to hear of what, and the outbox of what they are sent (contract 11)."""
