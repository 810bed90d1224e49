"""An analysis as one HTML file: plots drawn here as SVG, no script, nothing to load from anywhere."""
