"""Trips and their reports in files, and the formats of trips: GPX, GeoJSON, CSV, GeoPackage, GeoParquet."""
