"""What `minitape lab` has each kernel run first: errors say what fixes them also for who goes on in the middle of a
lesson the next day.
"""

import minitape.course

del minitape
