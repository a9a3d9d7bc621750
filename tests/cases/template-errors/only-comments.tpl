# expect only-comments.tpl: there is no %x[OFFSET,NAME] line in it

# %x[0,words]
