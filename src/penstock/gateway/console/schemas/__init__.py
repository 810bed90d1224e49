"""Schemas for people: laid out over several lines, and two versions side by side."""
