"""``penstock completion``: shells that finish what one types, names of topics and groups included.

The scripts ask ``penstock __complete WORD...`` with all words typed so far, the last of them unfinished. The
answer has a line for each candidate: the word, a tab, what it means. ``:files`` asks for names of files.
"""
