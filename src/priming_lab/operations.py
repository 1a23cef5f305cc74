"""The operation of the laboratory that servers offer, a verb of ``Memory`` too."""

from priming.verbs.op import Op

OPERATIONS = (
    Op(
        "ablate",
        "priming_lab.ablation",
        "care writes",
        example={"terms": ["spread", "feedback"], "propose": False},
    ),
)
