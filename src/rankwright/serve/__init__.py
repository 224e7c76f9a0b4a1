"""Models behind HTTP: rank, score and explain documents for other programs.

Start with `application.py`, which a request enters, and `routes.py`, which says where it goes. It needs the extra
`serve`; nothing else imports this package before it is used.
"""
