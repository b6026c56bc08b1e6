"""The camera: its process, its controls, and the dice reader that the service talks to."""
