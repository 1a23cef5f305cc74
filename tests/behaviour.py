"""Print what Priming makes of a small corpus, one JSON line a fact: the same bytes on every interpreter.

``tests/portability.py`` runs it by each interpreter that the machine has, and compares the output. Ids and times of
the clock are left out, as they differ at each run; scores have six digits, because the sums of libraries differ in
the last ones.
"""

import json
import sys
from datetime import UTC, datetime, timedelta

from priming import Cue, FixedClock, HashedEmbedder, Memory
from priming.storage.rows import LinkRow, MemoryRow, VersionRow

CORPUS = (
    "Nils-Erik Ødegård moved the nightly export of Fjordbank to `s3://ledger-dumps/2031` on 4 March.",
    "Frau Dr. Anneliese Weiß-Kühn hat den Mietvertrag für die Lagerhalle in Gießen gekündigt.",
    "Le colis de Mme Lefèvre-O'Brien est resté à l’entrepôt d’Évry jusqu’au 12 février 2031.",
    "María José Ibáñez cambió el horario del tren de Alcalá: sale a las 7:40, no a las 8:10.",
    "李小龙昨天把仓库的钥匙交给了王芳。",
    "田中さんは来週の火曜日に大阪へ行きます。",
    "Ольга Петровна перенесла совещание с Ильёй на четверг.",
    "Η Ελένη Παπαδοπούλου άφησε τα κλειδιά στο γραφείο.",
    "İsmail Çağlar'ın raporu İZMİR ofisinde; isparta'daki kopya eskidir.",
    "Use pnpm, not npm, in packages/web-ui; `make lint` fails with ESLint 9 otherwise.",
    "Never run `terraform destroy` in prod-eu-west-1 without asking Priya Raghunathan.",
    "class HTTPRetryPolicy2 lives in src/net/retry_policy.py; XMLHttpRequest and OAuth2 tokens expire after 45 min.",
    "The RFC-7231 parser (v2.10.3-rc1) chokes on “smart quotes”, ﬁ ligatures, full-width ＡＢＣ and Ångström.",
    "Quarterly review: Q3 2030 closed at €1,204,318.50, up 7.5 % on Q2; see INV-00417 and #8812.",
    "Mr. and Mrs. de la Cruz-Van der Meer, Jr. sold St. Mary's Mill to ACME Co. Ltd. (U.K.) for £3m.",
    "My sister's cat, Mister Biscuit III, hates thunderstorms; the vet is Dr Okonkwo-Smythe on Elm St.",
    "yesterday the staging db ran out of connections again, pgbouncer was at max_client_conn=200",
    "Tuesday's stand-up moved from half past nine to a quarter to ten, starting next week.",
    "TODO(kasia): rename foo_bar → fooBar; see https://git.example.org/x/y/-/merge_requests/42?tab=diff#L10",
    "a\u0301 is á, and the family 👩‍👩‍👧‍👦 met at Café Zoë — naïvely, at 0° C.",
)
SESSIONS = ("monday", "tuesday", None)
RULES = (
    ("Use tabs for indentation", "spaces", Cue(language="go")),
    ("Call the customer before you ship", None, Cue(task="release", file="deploy/*.yaml")),
    ("Write money as integer cents, never as floats", "floats", Cue(language="python")),
)
CUES = (
    "who has the keys of the warehouse?",
    "Wann wurde der Mietvertrag gekündigt?",
    "what about the export of Fjordbank",
    "which package manager do we use in web-ui",
    "when is the stand-up",
    "куда перенесли совещание",
    "钥匙 王芳",
    "Dr Okonkwo-Smythe",
)


def show(name, *values):
    """One fact."""
    print(json.dumps([name, *values], ensure_ascii=True, sort_keys=True, default=str))


def rounded(value):
    """A score as it is compared."""
    return round(value, 6) + 0.0


def main():
    """Tell the memory the corpus, and print what it made of it."""
    sys.stdout.reconfigure(encoding="utf-8")
    # It is told within hours that are of one day in all zones of test_portability.py: days are the machine's.
    clock = FixedClock(datetime(2031, 3, 10, 2, 45, tzinfo=UTC))
    with Memory.open("sqlite://", embedder=HashedEmbedder(64), clock=clock) as memory:
        for number, text in enumerate(CORPUS):
            clock.at += timedelta(minutes=7)
            memory.remember(text, session=SESSIONS[number % len(SESSIONS)])
        for right, wrong, cue in RULES:
            clock.at += timedelta(hours=1)
            memory.learn(right, wrong=wrong, cue=cue)
        facts(memory)
        for text in CUES:
            recall = memory.recall(text, floor=0.0, limit=6)
            show("recall", text, [(hit.memory.key, rounded(hit.relevance)) for hit in recall.hits])
            show("packed", text, memory.recall(text, tokens=120).text)
        show(
            "active",
            [hit.memory.key for hit in memory.active(Cue(language="python", file="deploy/a.yaml")).hits],
        )
        memory.feedback(used=[memory.recall(CUES[0], floor=0.0).hits[0].memory.key])
        for _ in range(3):
            clock.at += timedelta(days=1)
            memory.sleep()
        facts(memory)
        show("aliases", sorted((alias.name, alias.of) for alias in memory.aliases(dry_run=True)))


def facts(memory):
    """The rows of the store without ids and times of the clock."""
    store, namespace = memory.store, memory.namespace
    names = {row.id: row.key for row in store.rows(namespace, MemoryRow)}
    for row in store.rows(namespace, MemoryRow):
        show("memory", row.key, row.kind, row.status, rounded(row.weight))
    for row in store.rows(namespace, VersionRow):
        show("version", names[row.id], row.content, row.gist, row.digest, row.when, row.tags, row.occurred_at)
    links = [
        (names[row.source], row.relation, names[row.target], rounded(row.weight))
        for row in store.rows(namespace, LinkRow)
    ]
    for link in sorted(links):
        show("link", *link)


if __name__ == "__main__":
    main()
