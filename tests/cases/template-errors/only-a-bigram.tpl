# expect only-a-bigram.tpl: there is no line with %x[OFFSET,NAME]
B
