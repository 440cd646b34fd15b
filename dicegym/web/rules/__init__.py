"""The rules of each game as a page, with its picture, how its bots are asked, and its environments."""
