"""What a page is about: DocView, a record of a cleaned page with its type, keywords, abstract and metadata.

Z. Zhang, J. Chen and X. Li, A Preprocessing Framework and Approach for Web Applications, 2004.
"""
