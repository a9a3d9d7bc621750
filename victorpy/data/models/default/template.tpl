# Features for the kind of content. The feature evidence contains the trees' log-odds of content.

%x[0,evidence]
%x[{-1,1},evidence]
%x[0,container.{p,li,dt,dd,td,th,pre,blockquote,table,figcaption,a}]
%x[0,container.class-{header,bold,list}]
%x[0,words]
%x[{-1,1},words]
%x[0,sentence.count]
%x[0,sentence-{begin,end}]
%x[0,link-share]
%x[0,split.br]
%x[0,split.class-block]
%x[{-1,1},container.{p,li}]
%x[{-1,1},container.class-header]
%x[0,position]

# Combinations
%x[0,evidence]%x[0,container.class-header]
%x[0,evidence]%x[0,container.li]
%x[0,evidence]%x[0,words]
%x[0,words]%x[0,container.p]
%x[0,words]%x[0,container.class-header]
%x[0,words]%x[0,container.class-bold]
%x[0,words]%x[0,container.td]
%x[0,split.class-block]%x[-1,sentence-end]%x[0,sentence-begin]
%x[0,split.br]%x[-1,sentence-end]
%x[-1,container.li]%x[0,container.li]

B
