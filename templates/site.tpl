# Features of the trees for several pages of a site.

include evidence

# What the site repeats, at the block and around it
%x[0,site.pages]
%x[{-2..2},site.{importance,entropy,text-share}]
%x[{-1..1},site.place-share]
