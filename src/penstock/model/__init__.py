"""The nouns everybody shares: ids, error codes, errors, names and limits. Imports nothing of ours."""
