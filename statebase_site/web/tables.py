"""What columns of django-tables2 share."""

NUMBER = {"th": {"class": "num"}, "td": {"class": "num"}}
"""Attributes of a column of numbers."""
MOMENT = "{% moment value %}"
"""Template of a column of moments."""
