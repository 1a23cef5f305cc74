"""Storing memories: drafts, entities, links."""
