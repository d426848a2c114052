"""Trips in files: GPX, GeoJSON, CSV, GeoPackage, GeoParquet."""
