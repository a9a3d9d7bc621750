# expect only-a-bigram.tpl: there is no %x[OFFSET,NAME] line in it
B
