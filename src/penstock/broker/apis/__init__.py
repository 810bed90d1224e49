"""One file per Kafka API: its versions, its behaviour, its handler. ``dispatch`` finds them here."""
