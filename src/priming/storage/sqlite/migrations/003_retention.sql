-- How well a memory is retained: what reviews, that is verdicts, left of it, and when it was used.

-- FSRS-6: NULL before the first review.
ALTER TABLE memories ADD COLUMN stability REAL;
ALTER TABLE memories ADD COLUMN difficulty REAL;
-- World Weaver's S, in days: its law never clamps it.
ALTER TABLE memories ADD COLUMN endurance REAL NOT NULL DEFAULT 1.0;
ALTER TABLE memories ADD COLUMN reviewed_at TEXT;
ALTER TABLE memories ADD COLUMN first_used_at TEXT;
-- The latest uses, newest first, as JSON.
ALTER TABLE memories ADD COLUMN recent TEXT;
