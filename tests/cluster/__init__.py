"""Contests on several machines, which are nodes of Ray on this one, in a cage where they all end."""
