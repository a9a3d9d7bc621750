# expect only-comments.tpl: there is no line with %x[OFFSET,NAME]

# %x[0,words]
