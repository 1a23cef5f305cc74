"""Learning from use: feedback, co-activation, reviews, ablation."""
