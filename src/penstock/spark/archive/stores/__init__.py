"""Where the files of an archive are: what an archive needs of a file system, and those that give it."""
