# expect something-behind.tpl:2: expected %x[OFFSET,NAME] ... or B, found '%x[0,words] and more'
%x[0,words] and more
