"""DocView: a record that describes a cleaned page by its type, keywords, abstract and metadata.

Z. Zhang, J. Chen and X. Li, A Preprocessing Framework and Approach for Web Applications, 2004.
"""
