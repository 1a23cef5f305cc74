"""Words that say nothing of what a text is about. They stand apart, so that they can be read without the engine."""

from __future__ import annotations

_FUNCTION_WORDS = """
    a about above after again against all also am among an and any are as at
    be because been before being below between both but by
    can cannot could did do does doing done down during
    each either else ever every few for from further
    had has have having he her here hers herself him himself his how however
    i if in into is it its itself just let me might more most much must my myself
    neither no nor not of off on once only onto or other ought our ours ourselves out over own
    per please quite rather really same shall she should since so some such
    than that the their theirs them themselves then there these they this those through thus to too
    toward towards
    under until up upon very was we were what whatever when whenever where wherever whether which while
    who whoever whom whose why will with within without would yet you your yours yourself yourselves
    arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt mustnt neednt shant shouldnt wasnt werent
    wont wouldnt
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
