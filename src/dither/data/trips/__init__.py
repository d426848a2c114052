"""Trips, which are paths of places: GPX, GeoJSON, CSV and GeoParquet files."""
