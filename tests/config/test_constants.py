"""Every constant of a profile can be set, in files, by variables and by options; what is no constant is refused."""

import os

import pytest
from tests.rows import each_row

from priming import HashedEmbedder, Memory, ParamError
from priming.config import profiles
from priming.config.constants import FIELDS, applied, of_retrieval, settable, shown, table, used, variable
from priming.config.settings import load, read
from priming.config.settings_files import TABLE
from priming.maintenance.adoption import content_of


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """An empty project and an empty home; returns a function that writes the project's settings."""
    for name in os.environ:
        if name.startswith("PRIMING_"):
            monkeypatch.delenv(name)
    folder = tmp_path / "project" / ".priming"
    folder.mkdir(parents=True)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("PRIMING_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(folder.parent)

    def write(text):
        (folder / "config.toml").write_text(text, "utf-8")
        content_of(read()[0]).settle(adopt=True)

    return write


def wrong(**constants):
    return read(constants={name.replace("__", "."): (value, "--set") for name, value in constants.items()})[1]


def test_a_file_sets_a_constant_of_a_profile_and_no_other(project):
    project("[profiles.world-weaver.plasticity]\nhebb_eta = 0.2\n")
    result = load()
    assert result.profiles["world-weaver"].plasticity.hebb_eta == 0.2
    assert {name: each for name, each in result.profiles.items() if name != "world-weaver"} == {
        name: each for name, each in profiles.ALL.items() if name != "world-weaver"
    }


def test_options_come_before_variables_and_variables_before_files(project, monkeypatch):
    name = "profiles.poc.spread.gain"
    project("[profiles.poc.spread]\ngain = 0.6\n")
    assert load().resolved[name].source == ".priming/config.toml:2"
    monkeypatch.setenv("PRIMING_PROFILES_POC_SPREAD_GAIN", "0.7")
    assert (load().profiles["poc"].spread.gain, load().resolved[name].source) == (0.7, variable(name))
    result = load(constants={"poc.spread.gain": ("0.8", "--set")})
    assert result.profiles["poc"].spread.gain == 0.8
    assert [source for source, _ in result.resolved[name].shadows] == [
        variable(name),
        ".priming/config.toml:2",
        "default",
    ]


@each_row(
    ("constant", "text", "section", "value"),
    [
        ("floop.spread.combine", "sum", "spread", ("combine", "sum")),
        ("floop.spread.steps", "5", "spread", ("steps", 5)),
        ("floop.spread.max_nodes", "none", "spread", ("max_nodes", None)),
        ("floop.spread.max_nodes", "40", "spread", ("max_nodes", 40)),
        ("floop.learning.coactivation", "false", "learning", ("coactivation", False)),
        ("floop.spread.suppressing", '["conflicts"]', "spread", ("suppressing", ("conflicts",))),
    ],
)
def test_the_text_of_an_option_is_read_as_the_type_of_its_constant(constant, text, section, value):
    profile = load(constants={constant: (text, "--set")}).profiles["floop"]
    assert getattr(getattr(profile, section), value[0]) == value[1]


def test_a_table_changes_the_names_that_it_has_and_leaves_the_others():
    result = load(constants={"priming.links.by_relation": ("{requires = 2}", "--set")}).profiles["priming"]
    assert dict(result.links.by_relation) == {
        "part-of": 0.0,
        "next": 0.3,
        "next-but-one": 0.15,
        "mentions": 0.25,
        "touches": 0.15,
        "removed-in": 0.0,
        "requires": 2.0,
    }


def test_weights_that_do_not_sum_to_one_are_refused_together():
    assert wrong(**{"ethos.scoring.ethos": "{cosine = 0.9}"}) == [
        "profiles.ethos.scoring.ethos = (('cosine', 0.9), ('spread', 0.3), ('in_degree', 0.2)):"
        " weights must sum to 1, not 1.4"
    ]


@each_row(
    ("name", "value", "message"),
    [
        ("pocc.spread.gain", "1", "--set pocc.spread.gain: 'pocc' is not a profile: did you mean poc?"),
        (
            "poc.plasticty.low",
            "1",
            "--set poc.plasticty.low: profile poc has no section 'plasticty': did you mean plasticity?",
        ),
        (
            "poc.plasticity.lo",
            "1",
            "--set poc.plasticity.lo: plasticity of profile poc has no constant 'lo': did you mean low?",
        ),
        ("poc.spread.gain", "-1", "--set poc.spread.gain = -1: must be a number in [0.0, 2.0]"),
        ("poc.spread.steps", "2.5", "--set poc.spread.steps = 2.5: must be a whole number in [0, 1000]"),
        ("poc.spread.gain", "true", "--set poc.spread.gain = True: must be a number in [0.0, 2.0]"),
        ("poc.spread.gain", "nan", "--set poc.spread.gain = nan: must be a number in [0.0, 2.0]"),
        ("poc.spread.combine", "mean", "--set poc.spread.combine = 'mean': must be one of sum, max"),
        ("poc.learning.runs", "1", "--set poc.learning.runs = 1: must be true or false"),
    ],
)
def test_what_is_wrong_with_a_constant_is_said_with_the_nearest_that_is_right(name, value, message):
    assert wrong(**{name: value}) == [message]


def test_a_section_that_the_profile_does_not_use_is_refused():
    (message,) = wrong(**{"arc.spread.steps": "3"})
    assert message.startswith(
        "--set arc.spread.steps: profile arc has no section 'spread': use one of anchors,"
    )


def test_everything_that_is_wrong_in_a_file_is_said_at_once_with_its_line(project):
    project(
        "[profiles.poc.plasticity]\nconscious = 2\nlo = 3\n"
        "[profiles.pocc.spread]\ngain = 1\n"
        "[plasticity]\nlow = 1\n"
        "[profiles]\nfloop = 3\n"
    )
    here = ".priming/config.toml"
    assert set(read()[1]) == {
        f"{here}:2: profiles.poc.plasticity.conscious = 2: must be a number in [0.0, 1.0]",
        f"{here}:3: plasticity of profile poc has no constant 'lo': did you mean low?",
        f"{here}:5: 'pocc' is not a profile: did you mean poc?",
        f"{here}:6: [plasticity] is not a section: write [profiles.NAME.plasticity], with the name of a profile",
        f"{here}:9: profile floop has no section '': use one of {', '.join(settable(profiles.FLOOP))}",
    }


def test_the_sections_that_a_message_lists_are_in_the_order_of_letters(project):
    project("[embedder]\n")
    (message,) = read()[1]
    names = message.partition("use one of ")[2].split(", ")
    assert len(names) > 5
    assert names == sorted(names)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        (
            "PRIMING_PLASTICITY_HEBB_ETA",
            "PRIMING_PROFILES_PRIMING_PLASTICITY_HEBB_ETA, or that of another profile",
        ),
        ("PRIMING_PROFILES_POC_PLASTICTY_LOW", "PRIMING_PROFILES_POC_PLASTICITY_LOW"),
        ("PRIMING_PROFIL", "PRIMING_PROFILE"),
        ("PRIMING_NAMESPCE", "PRIMING_NAMESPACE"),
    ],
)
def test_a_variable_that_sets_nothing_is_refused_by_name(monkeypatch, name, nearest):
    monkeypatch.setenv(name, "3")
    assert read()[1] == [f"{name} = '3': is not a setting: did you mean {nearest}?"]


def test_every_constant_has_a_variable_of_its_own():
    names = [constant.environment for constant in table().values()]
    assert len(names) == len(set(names)) > 300


@each_row("name", profiles.ALL)
def test_each_default_of_a_constant_keeps_its_own_rule(name):
    for constant in table([name]).values():
        value = constant.default
        pairs = isinstance(value, tuple) and all(isinstance(item, tuple) for item in value)
        value = (
            "none" if value is None else dict(value) if pairs and "tuple[tuple" in constant.type else value
        )
        assert constant.check(value, text=False)[1] == ""


@each_row("name", profiles.ALL)
def test_what_a_profile_uses_can_be_set_and_is_shown(name):
    profile = profiles.get(name)
    allowed = settable(profile)
    assert all(set(keys) <= set(allowed[section]) for section, keys in used(profile).items())
    assert set(used(profile)) <= set(FIELDS)
    assert {each.source for each in shown(profile, load().resolved)} == {"default"}


def test_the_settings_of_ethos_are_shown_as_sources_of_its_constants(project):
    project("[retrieval]\niterations = 5\n")
    result = load()
    steps = {each.name: each for each in shown(result.profiles["ethos"], result.resolved)}["spread.steps"]
    assert (steps.value, steps.source) == (5, ".priming/config.toml:2")


def test_a_constant_that_is_set_is_at_work(clock):
    constants = {
        "world-weaver.plasticity.hebb_eta": ("0.5", "--set"),
        "world-weaver.base_level.noise": ("0", "--set"),
    }
    settings = load(constants=constants)
    with Memory.open(
        "sqlite://", profile="world-weaver", embedder=HashedEmbedder(), clock=clock, settings=settings
    ) as memory:
        memory.remember("Invoices are in Postgres.", key="a", kind="fact")
        memory.remember("Invoices are printed at night.", key="b", kind="fact")
        memory.link("a", "b", "relates-to")
        recall = memory.recall("where are invoices?")
        memory.feedback(recall.recall_id, used=["a", "b"])
        (link,) = memory.links(relation="relates-to")
        assert link.weight == pytest.approx(0.75)


def test_an_option_without_a_value_is_refused():
    from priming.cli.parse import constants

    for text in ("poc.spread.gain", "=3", "poc.spread.gain="):
        with pytest.raises(ParamError, match=r"must be NAME\.SECTION\.KEY=VALUE"):
            constants([text])


def test_the_settings_of_retrieval_have_the_values_of_ethos_as_defaults():
    defaults = {setting.key: setting.default for setting in TABLE if setting.section == "retrieval"}
    assert applied(profiles.ALL, of_retrieval(defaults)) == profiles.ALL
