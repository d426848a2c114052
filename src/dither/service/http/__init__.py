"""The collector over HTTP: routes, limits, metrics and the description of all of it."""
