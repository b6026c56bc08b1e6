"""The proof that a reading is of this toss: the sister of `motion`'s proof that there was one."""
