# expect offset-not-whole.tpl:2: expected %x[OFFSET,NAME] ... or B, found '%x[0.5,words]'
%x[0.5,words]
