"""Programs written from the page on machines alone, and played against the product."""
