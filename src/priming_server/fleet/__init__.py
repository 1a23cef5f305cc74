"""A verb over all namespaces of a store, or of many, on this machine or on a Ray cluster."""
