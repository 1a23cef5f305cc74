"""``Memory`` with the verbs of the lab: written by ``python -m priming.verbs.typed``."""

import priming.memory
import priming_lab.ablation

class LabVerbs(priming.memory.Memory):
    ablate = priming_lab.ablation.ablate
