//! The other end of the line: replies as a client reads them.
