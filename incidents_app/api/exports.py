"""Incidents as files: the post-mortem and the evidence bundle (contract 16)."""

from ninja import Router

router = Router(tags=["incidents"])
