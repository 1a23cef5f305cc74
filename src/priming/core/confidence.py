"""How sure an answer is: whether anything that came up is what the cue asks for."""

from __future__ import annotations

import math

from priming.checks import check_number
from priming.config.params.recall import CONFIDENCE, ConfidenceParams


def confidence(
    score: float, covered: float, cosine: float, rivalry: float, params: ConfidenceParams = CONFIDENCE
) -> float:
    """Tell how likely the best hit answers: a logistic function of what speaks for it as such.

    confidence = 1 / (1 + e^−(w₀ + w₁·score + w₂·covered + w₃·cosine + w₄·rivalry)).

    A ranking only says which memory is the best there is; these figures do not depend on the others being worse.

    Parameters
    ----------
    score : the best hit's score, as the default profile gives it, less what its neighbourhood adds to it: what has
        none would else seem less sure.
    covered : share of the cue's terms, by their idf, that the best hit holds, in [0, 1].
    cosine : of the cue and the best hit, in [0, 1].
    rivalry : how much better the cue is met by the speaker whom it names than by all others, in [−2, 2]; below 0
        where another speaker said it. 0 where the cue names no speaker.
    params : the weights.

    Returns
    -------
    A number in [0, 1]. It is a share of right answers only for stores and cues like those it was fitted on.

    Raises
    ------
    ParamError : an argument that is not a finite number.

    References
    ----------
    .. [1] A. Maharana et al., Evaluating Very Long-Term Conversational Memory of LLM Agents, 2024: the questions
       about what was never said, beside others whose answers were taken out of the store.

    Examples
    --------
    >>> round(confidence(0.1, 1.0, 0.7, 0.2), 2), round(confidence(-0.3, 0.2, 0.2, -0.5), 2)
    (0.89, 0.03)
    """
    figures = {"score": score, "covered": covered, "cosine": cosine, "rivalry": rivalry}
    total = params.constant + math.fsum(
        getattr(params, name) * check_number(name, value) for name, value in figures.items()
    )
    return 1.0 / (1.0 + math.exp(-total)) if total > -params.extreme else 0.0
