"""What a lesson is made of, and whether it is about what is to be done."""
