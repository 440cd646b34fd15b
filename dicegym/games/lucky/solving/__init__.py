"""What dice bring beyond their mean in Lucky & Co."""
