"""``Memory`` with the verbs of the lab: written by ``make docs``."""

import priming.memory
import priming_lab.ablation

class LabVerbs(priming.memory.Memory):
    ablate = priming_lab.ablation.ablate
