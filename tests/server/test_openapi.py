"""The OpenAPI document against the server: whatever is generated from it gets a documented answer."""

from __future__ import annotations

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from .conftest import DEADLINE
from .test_http import in_scene

pytestmark = pytest.mark.slow

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EXAMPLES = {GenerationMode.POSITIVE: 5, GenerationMode.NEGATIVE: 4}


@pytest.mark.parametrize("mode", list(EXAMPLES), ids=lambda item: item.value)
def test_what_is_generated_from_the_document_is_answered_as_it_says(serve, mode):
    served = serve(rate=0.0)
    in_scene(served, "default")
    schema = schemathesis.openapi.from_url(f"{served.at}/openapi.json")
    with requests.Session() as session:
        for get_all_operation in schema.get_all_operations():
            try_out(served, session, get_all_operation.ok(), mode)
    assert served.done("validate") == []


def try_out(served, session, operation, mode):
    """Generated requests for one operation, in the namespace where there is something to ask about."""

    @settings(
        max_examples=EXAMPLES[mode],
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
        deadline=None,
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def item(case):
        if "namespace" in case.path_parameters and mode is GenerationMode.POSITIVE:
            case.path_parameters["namespace"] = "default"
        case.call_and_validate(served.at, session=session, checks=CHECKS, timeout=DEADLINE)

    item()
