# expect column-number.tpl:3: the feature '2' is not in crf-features
# Columns have names here, not numbers as in CRF++.
U01:%x[0,2]
