# expect numbered-bigram-with-feature.tpl:3: B takes no %x
%x[0,words]
B01: %x[0,words]
