//! Protocol codecs without sockets. Knows no command.
