# expect unknown-in-braces.tpl:2: the feature 'container.b' is not in crf-features
%x[0,container.{p,b}]
