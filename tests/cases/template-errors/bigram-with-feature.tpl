# expect bigram-with-feature.tpl:3: B takes no %x
%x[0,words]
B%x[0,words]
