-- By what an operation was asked for (a command, a hook, a tool of MCP, a route of HTTP), and in which session of an
-- agent, beside the actor who asked.

ALTER TABLE operations ADD COLUMN via TEXT;
ALTER TABLE operations ADD COLUMN session TEXT;
