"""What a registry is about: names of subjects, stored schemas, levels and modes. Values only."""
