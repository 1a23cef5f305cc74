"""What a text or a file name says, by rules and word lists."""
