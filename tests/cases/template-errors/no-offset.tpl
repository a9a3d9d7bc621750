# expect no-offset.tpl:2: expected %x[OFFSET,NAME] ... or B, found '%x[words]'
%x[words]
