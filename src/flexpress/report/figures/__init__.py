"""Pictures of plans and runs."""
