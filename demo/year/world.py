"""What the agent's year is made of: projects, what changes about them, what goes wrong, and what happens once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Project:
    """A piece of software that the agent works on, what it is for, and the parts that it has."""

    name: str
    purpose: str
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """Something that holds of a project until it changes, after so many days on average."""

    name: str
    values: tuple[str, ...]
    days: float


@dataclass(frozen=True, slots=True)
class Mistake:
    """Something that goes wrong again and again, what mends it, and how somebody asks who met it before.

    ``bad`` is advice that does not help, where somebody gave such.
    """

    name: str
    project: str
    days: float
    symptoms: tuple[str, ...]
    tried: str
    fixes: tuple[str, ...]
    question: str
    steps: tuple[str, ...] = ()
    more: str = ""
    bad: str = ""


@dataclass(frozen=True, slots=True)
class Twin:
    """Two procedures that are alike and not the same, each as a title and its steps, and a paraphrase of the first.

    ``words`` are those that make the difference; a night has to name them.
    """

    name: str
    left: tuple[str, tuple[str, ...]]
    right: tuple[str, tuple[str, ...]]
    words: tuple[str, str]
    again: tuple[str, tuple[str, ...]] | None = None


TWINS = (
    Twin(
        "flag",
        ("Enable the night flag", ("Open the console.", "Switch the night flag on.", "Save.")),
        ("Disable the night flag", ("Open the console.", "Switch the night flag off.", "Save.")),
        ("enable", "disable"),
    ),
    Twin(
        "chart",
        ("Upgrade the chart", ("Fetch the chart.", "Upgrade it with helm.", "Look at the pods.")),
        ("Downgrade the chart", ("Fetch the chart.", "Downgrade it with helm.", "Look at the pods.")),
        ("upgrade", "downgrade"),
    ),
    Twin(
        "place",
        ("Deploy to staging", ("Check out main.", "Run deploy.sh staging.", "Read the log.")),
        ("Deploy to production", ("Check out main.", "Run deploy.sh production.", "Read the log.")),
        ("staging", "production"),
        (
            "Deploying to staging",
            ("First check out main.", "Then run `deploy.sh staging`.", "Please read the log."),
        ),
    ),
    Twin(
        "version",
        ("Migrate to v1", ("Take a backup.", "Install v1.", "Compare the counts.")),
        ("Migrate to v2", ("Take a backup.", "Install v2.", "Compare the counts.")),
        ("v1", "v2"),
    ),
    Twin(
        "host",
        ("Restart Kestrel", ("Drain Kestrel.", "Restart Kestrel.", "Watch its log.")),
        ("Restart Heron", ("Drain Heron.", "Restart Heron.", "Watch its log.")),
        ("kestrel", "heron"),
        ("How to restart Kestrel", ("Drain Kestrel!", "Kestrel must be restarted.", "Always watch its log.")),
    ),
    Twin(
        "day",
        ("Send the report on Monday", ("Write the report.", "Send it on Monday.", "File it.")),
        ("Send the report on Friday", ("Write the report.", "Send it on Friday.", "File it.")),
        ("monday", "friday"),
    ),
)
"""Procedures that no night may make one of."""

PROJECTS = (
    Project("Kestrel", "signing builds", ("key store", "signer", "audit trail", "release gate")),
    Project("Heron", "billing", ("invoice printer", "tax table", "ledger", "reminder letters")),
    Project("Osprey", "search", ("indexer", "query parser", "spelling", "ranking")),
    Project("Plover", "mail", ("outbox", "bounce reader", "templates", "address book")),
    Project("Curlew", "maps", ("tile cache", "route finder", "street names", "elevation model")),
    Project("Avocet", "video", ("transcoder", "subtitles", "player", "thumbnails")),
    Project("Linnet", "translation", ("glossary", "memory of phrases", "review page", "word counter")),
    Project("Merlin", "forecasts", ("weather feed", "trainer", "backtest", "charts")),
)

SLOTS = (
    Slot("database", ("PostgreSQL 15", "PostgreSQL 16", "MariaDB 11", "SQLite", "CockroachDB"), 110),
    Slot("port", ("8080", "8443", "9090", "7070", "5050", "6060"), 80),
    Slot("on-call engineer", ("Ada", "Grace", "Alan", "Barbara", "Edsger"), 24),
    Slot("deployment tool", ("Ansible", "Helm", "Nomad", "Capistrano"), 140),
)

MISTAKES = (
    Mistake(
        "certificate",
        "Kestrel",
        10,
        (
            "The signer refuses every build: its certificate has expired.",
            "Signing fails again with 'certificate expired'.",
            "No build gets signed since midnight; the certificate ran out.",
        ),
        "Restarted the signer, which changed nothing.",
        (
            "Renewed the certificate with certbot-renew and reloaded the signer: builds are signed again.",
            "Ran certbot-renew, reloaded the signer, and signing works.",
            "A new certificate by certbot-renew and a reload of the signer mended it.",
        ),
        "signing is refused because the certificate ran out, what helps?",
        ("Run certbot-renew on the signing host.", "Reload the signer.", "Sign a test build."),
        "Note the new date of expiry.",
        "When a certificate has expired, reinstall the operating system of the signing host.",
    ),
    Mistake(
        "hsm",
        "Kestrel",
        22,
        ("The key store answers 'slot locked' to every request.", "Key store locked its slot once more."),
        "Waited ten minutes; the slot stays locked.",
        (
            "Unlocked the slot with hsm-unlock and the officer's card.",
            "hsm-unlock with the officer's card opened the slot.",
        ),
        "how do we open a locked slot of the key store?",
    ),
    Mistake(
        "rounding",
        "Heron",
        14,
        (
            "The totals of some invoices are one cent off.",
            "A customer's invoice is a cent too high.",
            "Invoice totals differ from the ledger by a cent.",
        ),
        "Recomputed the invoices with floats, and they are still wrong.",
        (
            "Switched the sum to Decimal and rounded half even: totals agree to the cent.",
            "Used Decimal with rounding half even, and invoice and ledger agree.",
        ),
        "why are invoice totals off by a cent, and what mends them?",
        ("Find the sum that uses floats.", "Replace it by Decimal.", "Round half even once, at the end."),
        "Compare with the ledger.",
        "When totals are a cent off, tell the customer to ignore it.",
    ),
    Mistake(
        "printer",
        "Heron",
        18,
        ("The invoice printer stops after forty pages.", "Invoice printer hangs at page forty again."),
        "Turned the invoice printer off and on.",
        (
            "Raised spool_limit to 512 and the invoice printer finishes.",
            "With spool_limit at 512 all pages come out of the invoice printer.",
        ),
        "the invoice printer hangs in the middle, which setting was it?",
    ),
    Mistake(
        "stale-index",
        "Osprey",
        9,
        (
            "Searches do not find documents of today.",
            "New documents are missing from the search results.",
            "The search shows yesterday's documents only.",
        ),
        "Cleared the browser cache, and still nothing new is found.",
        (
            "Ran reindex --since yesterday: new documents are found.",
            "The index was stale; reindex --since yesterday brought it up to date.",
            "After reindex --since yesterday searches find today's documents.",
        ),
        "search misses fresh documents, what has to be run?",
        (
            "Look when the indexer ran last.",
            "Run reindex --since yesterday.",
            "Search for a document of today.",
        ),
        "Tell support that it is mended.",
        "When the search misses documents, rename the documents.",
    ),
    Mistake(
        "umlauts",
        "Osprey",
        20,
        ("The query parser drops umlauts.", "Queries with umlauts find nothing."),
        "Escaped the umlauts by hand, in vain.",
        (
            "Normalised queries to NFC before parsing: umlauts work.",
            "NFC normalisation in front of the query parser brings umlauts back.",
        ),
        "how did we get queries with umlauts to work?",
    ),
    Mistake(
        "greylist",
        "Plover",
        12,
        (
            "Mail to the university bounces with code 451.",
            "The outbox fills: code 451 from several hosts.",
            "Messages come back with 451, try again later.",
        ),
        "Sent the messages again at once; they bounced again.",
        (
            "Raised retry_delay to 15 minutes, since the hosts greylist us: mail is delivered.",
            "Code 451 is greylisting: with retry_delay of 15 minutes the outbox empties.",
        ),
        "mail bounces with code 451, what do we change?",
        (
            "Look for code 451 in the log of the outbox.",
            "Set retry_delay to 15 minutes.",
            "Flush the outbox.",
        ),
        "Watch the bounces for an hour.",
        "When mail bounces, delete the outbox.",
    ),
    Mistake(
        "template",
        "Plover",
        25,
        ("A template shows {{name}} instead of the name.", "Letters went out with {{name}} in them."),
        "Saved the template again.",
        (
            "The template lacked its front matter; with render: true the name appears.",
            "Added render: true to the front matter, and names are filled in.",
        ),
        "placeholders appear in letters instead of names, why?",
    ),
    Mistake(
        "tiles",
        "Curlew",
        13,
        (
            "The map shows grey squares.",
            "Half of the map is grey.",
            "Grey squares where the tiles should be.",
        ),
        "Reloaded the page: the squares stay grey.",
        (
            "Purged the tile cache with tilectl purge: the map is whole.",
            "tilectl purge emptied the broken tiles, and the grey is gone.",
        ),
        "parts of the map stay grey, what empties the broken tiles?",
        ("Find the zoom level that is grey.", "Run tilectl purge for it.", "Load the map anew."),
        "Warm the cache for the big cities.",
        "When the map is grey, buy a better screen.",
    ),
    Mistake(
        "ferries",
        "Curlew",
        28,
        ("Routes cross the lake where no ferry goes.", "The route finder sends a lorry over the lake."),
        "Reported the route by hand.",
        (
            "Imported the ferry timetable again: routes go round the lake.",
            "With a fresh ferry timetable the route finder goes round the lake.",
        ),
        "why do routes cross the lake?",
    ),
    Mistake(
        "subtitles",
        "Avocet",
        15,
        (
            "Subtitles run two seconds late.",
            "The subtitles of the lecture lag behind.",
            "Subtitles come late by two seconds again.",
        ),
        "Shifted the subtitles by hand; the next video lags again.",
        (
            "The frame rate was 23.976, not 24: set fps_exact and subtitles are in time.",
            "fps_exact puts the subtitles in time.",
        ),
        "subtitles lag behind the picture, which option?",
        ("Read the frame rate of the video.", "Set fps_exact.", "Transcode the subtitles anew."),
        "Look at the last minute of the video.",
        "When subtitles lag, mute the sound.",
    ),
    Mistake(
        "disk",
        "Avocet",
        16,
        (
            "The transcoder stops: no space left on device.",
            "No space left for the transcoder.",
            "Transcoding ends with 'no space left on device'.",
        ),
        "Restarted the transcoder; it stopped after a minute.",
        (
            "Deleted scratch files older than a week with sweep-scratch: the transcoder runs.",
            "sweep-scratch freed 200 GB and the transcoder runs again.",
        ),
        "the transcoder has no space left, how do we free some?",
    ),
    Mistake(
        "glossary",
        "Linnet",
        18,
        ("The glossary shows terms of another customer.", "A customer sees foreign terms in the glossary."),
        "Logged out and in, and the terms are still there.",
        (
            "The tenant header was missing; sending X-Tenant shows the right glossary.",
            "With X-Tenant sent, each customer has their own glossary.",
        ),
        "terms of somebody else stand in the glossary, which header is missing?",
    ),
    Mistake(
        "counter",
        "Linnet",
        30,
        ("The word counter counts tags as words.", "Word counts are too high: tags are counted."),
        "Counted by hand.",
        (
            "Stripped markup before counting: the word counter is right.",
            "Without markup the word counter gives the right number.",
        ),
        "why are word counts too high?",
    ),
    Mistake(
        "feed",
        "Merlin",
        10,
        (
            "The weather feed is silent since noon.",
            "No weather data for three hours.",
            "The weather feed sends nothing.",
        ),
        "Pinged the weather feed: it answers, but sends nothing.",
        (
            "The token of the feed had run out; feedctl login made a new one.",
            "feedctl login gave a new token and the weather data flow.",
        ),
        "the weather feed sends nothing, how is its token renewed?",
        ("Look at the date of the token.", "Run feedctl login.", "Wait for the next measurement."),
        "Fill the gap from the archive.",
        "When the weather feed is silent, look out of the window.",
    ),
    Mistake(
        "leak",
        "Merlin",
        24,
        ("The trainer eats all memory and is killed.", "The kernel killed the trainer: out of memory."),
        "Started the trainer again; it was killed after an hour.",
        (
            "Set num_workers to 2 and the trainer stays under 8 GB.",
            "With num_workers of 2 the trainer is no longer killed.",
        ),
        "the trainer is killed for its memory, what was changed?",
    ),
)

WORK = (
    "Reviewed a change to the {part} of {project}: {note}.",
    "Wrote tests for the {part} of {project}; {note}.",
    "Spoke with {person} about the {part} of {project}: {note}.",
    "Merged a change to the {part} of {project} that {person} wrote; {note}.",
    "Measured the {part} of {project}: {note}.",
    "Read the code of the {part} of {project} once more; {note}.",
    "Planned the next step for the {part} of {project}: {note}.",
)
NOTES = (
    "two functions became one",
    "it is half as long now",
    "it takes {number} ms for {other} items",
    "a test with {number} cases was missing",
    "the name of a variable was wrong",
    "nothing stood out",
    "issue #{number} can be closed",
    "we wait for a decision",
    "it needs a page of documentation",
    "{number} of {other} warnings are gone",
    "the error message now says what to do",
    "it broke nothing",
    "the old way is removed",
    "a log line tells which of the {number} inputs it was",
)
HABITS = (
    "Stand-up: nothing new about {project}.",
    "Nightly build of {project} is green.",
    "Backup of {project} was checked.",
)
PEOPLE = ("Ada", "Grace", "Alan", "Barbara", "Edsger")

ONCE = (
    "A parcel {code} for room {room} was left at the gate; it went back to {place}.",
    "The visitor {code} from {place} wanted to see the machine room and left a blue umbrella in room {room}.",
    "The coffee machine {code} in room {room} leaked; a technician from {place} took it away.",
    "Found an old tape labelled {code} in room {room}: it holds photographs of {place}.",
    "The lift {code} stuck between two floors beside room {room}; its maker in {place} sent a spring.",
    "A bat flew into room {room}; the shelter in {place} gave it the number {code}.",
    "Borrowed a projector {code} from the museum in {place} for a talk in room {room}.",
    "A pipe burst above room {room}; the insurance in {place} filed it as {code}.",
)
PLACES = (
    "Tromsø",
    "Bergamo",
    "Leiden",
    "Cork",
    "Tartu",
    "Ghent",
    "Coimbra",
    "Zadar",
    "Uppsala",
    "Graz",
    "Vilnius",
    "Lucerne",
    "Odense",
    "Nancy",
    "Bruges",
    "Porto",
    "Turku",
    "Siena",
    "Utrecht",
    "Brno",
)
