"""What is kept on disk: the journal and its copies, pictures, disputes, settings."""
