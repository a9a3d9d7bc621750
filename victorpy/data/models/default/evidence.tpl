# Features of the trees. They also see the lexicon; the second layer also sees results of the first.

# Containers of the block
%x[0,container.{p,li,td,pre,blockquote,form,nav,header,footer,aside,main,article,table,noscript,figure,section,dl}]
%x[0,container.class-{header,list}]
%x[0,hidden]
%x[0,split.class-block]
%x[0,depth]

# Text of the block
%x[0,words]
%x[0,link-share]
%x[0,char.{num,punct,upper,alpha}-rel]
%x[0,sentence.{count,avg-length}]
%x[0,sentence-end]
%x[0,duplicate-count]
%x[0,first-duplicate]
%x[0,title-share]

# Neighbours
%x[{-2,-1,1,2},words]
%x[{-2,-1,1,2},link-share]
%x[{-1,1},container.{class-header,p}]
%x[{-1,1},split.class-block]
%x[{-1,1},duplicate-count]
%x[{-1,1},char.punct-rel]
%x[{-1,1},look.blocks]
%x[0,window{1,2,3,5,12,25}.{words,link-share}]

# Ancestors, and elements that look the same
%x[0,ancestor{0..6}.{words,link-share,block-share,block-words,blocks}]
%x[0,ancestor{0..3}.children]
%x[0,look.{blocks,words,link-share,word-share}]
%x[0,trunk.{inside,words,link-share}]

# Position in the page, and the whole page
%x[0,position]
%x[0,words-{before,after}]
%x[0,words-before-share]
%x[0,headline-{distance,words}]
%x[0,heading-distance]
%x[0,document.{word,block}-count]
%x[0,document.{link-share,prose-share,block-words,named-share}]
%x[0,document.elements-with.{p,article,main,h2,li,a,td}]
