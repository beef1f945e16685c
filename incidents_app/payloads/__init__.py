"""Incidents on the wire and in files: objects, bodies of requests, exports."""
