"""What Alembic runs for each way from one schema to another, over the connection given to it."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
