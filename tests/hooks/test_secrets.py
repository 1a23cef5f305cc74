"""What may be a secret is left out of texts that are stored unasked; prose, paths and commits stay."""

from tests.rows import each_row

from priming_agents.capture import HIDDEN, redacted


@each_row(
    ("text", "secret"),
    [
        ("The password is hunter2.", "hunter2"),
        ("mein Passwort ist geheim123", "geheim123"),
        ("contraseña: abretesesamo", "abretesesamo"),
        ("пароль: сезам12", "сезам12"),
        ("DB_PASSWORD='two words'", "two words"),
        ('{"password": "hunter2"}', "hunter2"),
        ("password hunter2", "hunter2"),
        ("I changed the password to swordfish", "swordfish"),
        ("curl --token=abcdef https://x", "abcdef"),
        ("API key: abcd1234efgh", "abcd1234efgh"),
        ("export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "K7MDENG"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIA"),
        ("use sk-proj-9fK2mQ7xZb41LpTr", "9fK2"),
        ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "16C7"),
        ("xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx", "AbCd"),
        ("Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.dozjgNryP4J3jVmNHl0w5N", "dozj"),
        ("postgresql://ann:s3cret@db/team", "s3cret"),
        ("5f4dcc3b5aa765d61d8327deb882cf99", "5f4d"),
        ("card 4111 1111 1111 1111", "4111"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "MIIE"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE", "MIIE"),
    ],
)
def test_a_secret_is_left_out(text, secret):
    assert secret not in redacted(text)
    assert HIDDEN in redacted(text)
    assert redacted(redacted(text)) == redacted(text)


@each_row(
    "text",
    [
        "fix the token bucket in limiter.py",
        "the token expires after an hour, so the password reset fails",
        "the secret to good bread is time",
        "commit 3f1c8a52d9043f1c8a52d9043f1c8a52d9043f1c",
        "src/priming/storage/sqlite/migrations/0042_split_address.sql",
        "tests/hooks/test_work_trees_for_2026_releases.py",
        "use TestParserHandlesCrlfInput2 and HTTPServerV2Config",
        "https://example.org/docs/a?page=2#top",
        "In 2026 we sold 1,200,000 units to 12 countries.",
        "大阪で会いました",
    ],
)
def test_what_is_no_secret_stays(text):
    assert redacted(text) == text
