"""Git hooks that warm the index: installing them, looking at them, and the one worker that they start.

Hooks only warm the store. Many moves of HEAD fire none of them, so the truth of an answer never rests on one.
"""
