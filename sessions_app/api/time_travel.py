"""Time travel: differences between versions, and the rehearsal of a rollback (contract section 15)."""

from ninja import Router

router = Router(tags=["time travel"])
