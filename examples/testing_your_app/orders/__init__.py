"""An order service: takes orders, tells billing, loses none."""
