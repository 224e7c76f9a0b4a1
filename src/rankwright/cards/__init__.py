"""Model cards, data sheets, the query browser, and the pages that contain them."""
