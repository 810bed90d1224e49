"""Records of an archive, or of a stretch of a topic, once more into a topic.

``sources`` says where they come from, ``plan`` in which pieces they go, ``running`` takes them there. Live
consumer groups are neither read nor changed by it.
"""
