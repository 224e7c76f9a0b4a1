"""Adapting boosting for IR measures (Wu, Burges, Svore & Gao, Information Retrieval 2010)."""
