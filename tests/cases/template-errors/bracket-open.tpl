# expect bracket-open.tpl:2: expected %x[OFFSET,NAME] ... or B, found '%x[0,words'
%x[0,words
