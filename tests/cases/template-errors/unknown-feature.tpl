# expect unknown-feature.tpl:3: the feature 'wrods' is not in crf-features (did you mean 'words'?)
%x[0,words]
%x[0,wrods]
