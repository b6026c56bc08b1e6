"""The table as people see it: snapshots, words, and what each person may do now."""
