"""What classes of ops promise, whatever their dialect."""
