"""What `minitape lab` has each kernel run first: advice also for who goes on in the middle of a lesson the next day."""

from minitape.course import order

order.explain_missing_names()
del order
