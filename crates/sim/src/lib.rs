//! A seeded world: fake disk, fake clock, one schedule; runs engine and journal.
