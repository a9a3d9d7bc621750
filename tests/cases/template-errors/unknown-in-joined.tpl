# expect unknown-in-joined.tpl:2: the feature 'positon' is not in crf-features (did you mean 'position'?)
%x[0,words]%x[-1,positon]
