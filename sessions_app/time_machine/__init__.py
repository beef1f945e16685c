"""How the time machine presents a session: its address, entries, rail and state tree. Writes nothing."""
