"""Never lose much: certain bacon whenever it is middling, and otherwise only two or three dice.

Two six-sided dice avoid a Pig out in 25 of 36 cases. The points come slowly, and nobody is scared by them;
it beats those who overdo it, and shows what avoiding risk costs against those who do not.
"""

PURE = True


def final_strategy(score, opponent_score):
    bacon = 1 + max(opponent_score % 10, opponent_score // 10)
    if bacon >= 5 or score + bacon >= 100:
        return 0
    if (score + opponent_score) % 7 == 0:
        return 2
    return 3
