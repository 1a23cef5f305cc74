"""The operation of the laboratory that servers offer."""

from priming.operations.op import Op

OPERATIONS = (
    Op(
        "ablate",
        "Ablation",
        ("terms",),
        writes=True,
        long=True,
        at="priming_lab.verbs:ablate",
        home="priming_lab.results",
        other_names={"term": "terms"},
        group="care",
    ),
)
