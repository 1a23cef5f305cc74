"""The page in a real Chromium, on a real server and store."""
