//! Rows and handlers. Sees Tx, Args and Reply; never a socket, file, clock or thread.
