"""One file per format of documents or queries; each yields records, one after another."""
