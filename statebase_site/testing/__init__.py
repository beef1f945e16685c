"""What `manage.py test` runs, and the throw-away services it runs it on. Used by bench/ too."""
