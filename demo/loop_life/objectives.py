"""Thirty objectives in a small project: repeats, paraphrases, near misses and traps; and what each kind takes."""

from __future__ import annotations

from dataclasses import dataclass

RULES = {
    "currency": ("rates are texts and never floats", "codes stand in alphabetical order"),
    "command": ("a module of a command begins with a docstring", "list the command in NAMES as well"),
    "message": ("keep the placeholder {name} in a translation", "a file of messages ends with a newline"),
    "migration": ("number a migration with four digits", "a statement ends with a semicolon"),
    "route": ("a route has no slash at its end", "a route begins with GET"),
    "fee": ("fees are whole cents", "a fee carries a comment that says why"),
    "sandbox": ("the sandbox takes plain numbers",),
    "page": (),
}
"""What each kind of work must heed. Nobody says it but the tests of the project, one at a time."""
WAYS = {"sandbox": "entered the rate as it is", "page": "began the page with its title"}
"""How the agent goes about work that nobody has to heed anything for."""
FILES = {
    "currency": "parcel/currencies.py",
    "command": "parcel/commands",
    "message": "parcel/messages",
    "migration": "migrations",
    "route": "parcel/routes.py",
    "fee": "parcel/fees.py",
    "sandbox": "parcel/sandbox.py",
    "page": "docs",
}
PRACTISED = ("currency", "command", "message", "migration", "route", "fee")
"""The kinds that are practised; the others are near misses and traps."""


@dataclass(frozen=True, slots=True)
class Objective:
    """What is asked for, the task that it comes to, its kind, and the name of what is made."""

    text: str
    task: str
    kind: str
    name: str


_FIRST = (
    Objective("Add the Swiss franc to the currencies", "Enter the franc as a currency", "currency", "CHF"),
    Objective("Add a command that prints labels", "Write the command label", "command", "label"),
    Objective("Translate the greeting into Danish", "Write the greeting in Danish", "message", "da"),
    Objective(
        "Add a column for the weight of a shipment", "Migrate the weight column", "migration", "weight"
    ),
    Objective("Serve the tracking page", "Register the route of the tracking page", "route", "tracking"),
    Objective("Charge a fee for gift wrapping", "Enter the fee for gift wrapping", "fee", "gift"),
)
_SECOND = (
    Objective("Support the Danish krone as a currency", "Enter the krone as a currency", "currency", "DKK"),
    Objective("Give users a command to weigh parcels", "Write the command weigh", "command", "weigh"),
    Objective("Put the greeting into Finnish", "Write the greeting in Finnish", "message", "fi"),
    Objective(
        "Store the colour of a shipment in a column", "Migrate the colour column", "migration", "colour"
    ),
    Objective(
        "Let visitors see the page of prices", "Register the route of the price page", "route", "prices"
    ),
    Objective("Bill express delivery with a fee", "Enter the fee for express delivery", "fee", "express"),
)
_THIRD = (
    Objective("Let customers pay in the Polish currency", "Enter the zloty as a currency", "currency", "PLN"),
    Objective("We want a command to void a label", "Write the command void", "command", "void"),
    Objective("Greet people in Estonian", "Write the greeting in Estonian", "message", "et"),
    Objective(
        "Keep the sender of a shipment in a column", "Migrate the sender column", "migration", "sender"
    ),
    Objective(
        "Open the returns page to visitors", "Register the route of the returns page", "route", "returns"
    ),
    Objective("Take a fee for insurance", "Enter the fee for insurance", "fee", "insurance"),
)
_MISSES = (
    Objective("Write a page about exchange rates", "Write docs/rates.md", "page", "rates"),
    Objective("Try a rate of the yen in the sandbox", "Set the yen in the sandbox", "sandbox", "JPY"),
    Objective("Explain to newcomers how we deploy", "Write docs/deploy.md", "page", "deploy"),
    Objective("Describe our house style for prose", "Write docs/style.md", "page", "style"),
    Objective("Try a rate of the peso in the sandbox", "Set the peso in the sandbox", "sandbox", "MXN"),
    Objective("Tell visitors who we are", "Write docs/about.md", "page", "about"),
)

OBJECTIVES = (
    *_FIRST,
    *_MISSES[:2],
    *_SECOND,
    *_MISSES[2:4],
    *_THIRD,
    *_MISSES[4:],
    *_FIRST,
)
"""In the order in which they come: each kind once, then in other words, then in others again, then as at first."""
