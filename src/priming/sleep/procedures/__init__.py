"""What procedures say: their steps as words, what two of them have in common, and the families of those alike."""
