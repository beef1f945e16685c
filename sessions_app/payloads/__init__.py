"""The API's words: what a request may hold, and the objects that answers show (contract section 5)."""
