"""The loop above the memory: reason, act behind verification gates, learn, pivot."""
