"""Where untrusted programs run: processes of their own, watched and limited."""
