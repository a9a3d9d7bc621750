# expect plain-words.tpl:4: expected %x[OFFSET,NAME] ... or B, found 'words of the block'

%x[0,words]
words of the block
