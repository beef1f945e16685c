"""Forms of what people do to an incident, one per act; limits are those of `incidents_app.limits`."""
