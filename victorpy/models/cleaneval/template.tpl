# Every feature of the block itself
%x[0,container.{p,a,u,img,li}]
%x[0,container.class-{header,bold,italic,list,form}]
%x[0,split.{p,br,hr}]
%x[0,split.class-{inline,block}]
%x[0,char.{alpha,num,punct,white,other}-rel]
%x[0,token.{alpha,num,mix,other}-{abs,rel}]
%x[0,sentence.{count,avg-length}]
%x[0,sentence-{begin,end}]
%x[0,first-duplicate]
%x[0,duplicate-count]
%x[0,regexp.{url,date,time}]
%x[0,bullet]
%x[0,{div,td}-group.word-ratio]
%x[0,position]
%x[0,document.{word,sentence,block}-count]
%x[0,document.max-{div,td}-group]

# Its neighbours
%x[{-2,-1,1,2},container.{p,a,li}]
%x[{-2,-1,1,2},container.class-{header,bold,list,form}]
%x[{-1,1,2},split.{p,br}]
%x[{-1,1,2},split.class-{inline,block}]
%x[{-2,-1,1,2},token.alpha-abs]
%x[{-2,-1,1,2},sentence.{count,avg-length}]
%x[{-1,1},sentence-{begin,end}]
%x[{-1,1},char.{alpha,num,punct}-rel]
%x[{-1,1},duplicate-count]
%x[{-1,1},bullet]
%x[{-1,1},regexp.{date,time}]
%x[{-1,1},{div,td}-group.word-ratio]

# Together: does this block go on from the one before? is it an item among items?
%x[-1,sentence-end]%x[0,sentence-begin]%x[0,split.class-block]
%x[-1,bullet]%x[0,bullet]%x[0,split.class-block]
%x[0,container.a]%x[0,token.alpha-abs]
%x[-1,container.a]%x[0,container.a]%x[1,container.a]
%x[0,container.p]%x[0,sentence.count]
%x[0,container.class-header]%x[0,{div,td}-group.word-ratio]
%x[0,position]%x[0,token.alpha-abs]
%x[0,sentence.count]%x[0,{div,td}-group.word-ratio]

B

