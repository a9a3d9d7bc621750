# expect small-b.tpl:3: expected %x[OFFSET,NAME] ... or B, found 'b'
%x[0,words]
b
