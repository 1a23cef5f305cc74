"""The steps of the loop that run no command, as verbs of a memory: context, lessons, tasks, assessment, reports."""
