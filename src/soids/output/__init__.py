"""What people and programs read: tables, figures and reports."""
