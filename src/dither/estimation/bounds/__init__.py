"""What still holds if some reports are lies, and if an estimate is looked at many times."""
