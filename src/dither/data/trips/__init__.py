"""Trips (paths of locations): GPX, GeoJSON, CSV and GeoParquet files."""
