# Features of the trees that distinguish header, paragraph, list item and continuation. They also see the features of
# templates/evidence.tpl, the lexicon, and the results of the trees that find content.

# Containers of the block, and tags since the previous block
%x[{-1,0,1},container.{p,ul,ol,dl,dt,dd,li,td,th,pre,center,div}]
%x[{-1,0,1},container.class-{header,bold,italic,list}]
%x[{-1,0,1},split.{p,br,hr,li,td,tr,table,div,a,b,strong,span}]
%x[{-1,0,1,2},split.class-{block,inline}]

# Lines and similar blocks
%x[{-1,0,1},characters]
%x[{-1,0,1},run.{blocks,place,longest,mean,filled}]
%x[{-1,0,1,2},look.again]
%x[{-1,0,1,2},{element,parent}.again]
%x[{-1,0,1},look.{bold-share,short-share,break-share}]
%x[{-2,2},look.blocks]

# Text of the block
%x[{-1,0,1},bold-share]
%x[{-1,0,1},capitalised-share]
%x[{-1,0,1},begins-with.{digit,lower,sign}]
%x[{-2,-1,0,1,2},bullet]
%x[0,token.{alpha,num}-abs]
%x[{-1,1},char.{num,upper,alpha}-rel]
%x[{-1,0,1},sentence-begin]
%x[{-1,1},sentence-end]
%x[{-1,1},sentence.{count,avg-length}]
%x[{-1,1},heading-distance]
%x[{-1,1},ancestor{0,1}.{words,blocks}]

# The page
%x[0,document.break-share]
%x[0,document.share-in.{p,td,class-list}]
