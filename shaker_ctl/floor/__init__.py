"""What a house runs beside its tables: collector, store, figures, alarms and page."""
