"""The schemas, each with what makes it out of the one before. What is here has been used: it is never changed."""
