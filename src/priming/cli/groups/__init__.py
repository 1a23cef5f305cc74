"""The commands: a module a group, each command with its rendering."""
