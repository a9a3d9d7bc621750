# The numbers that the trees decide by where several pages of a site are cleaned together.

include evidence

# What the site repeats, here and around
%x[0,site.pages]
%x[{-2..2},site.{importance,entropy,text-share}]
%x[{-1..1},site.place-share]
