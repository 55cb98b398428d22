"""What the forum's templates share.

facts   what is true in the forum's world: the values and the answers of tasks
steps   how somebody who knows the forum moves about in it: the actions of oracles
"""
