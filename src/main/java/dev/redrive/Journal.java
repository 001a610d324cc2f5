package dev.redrive;

/** How SQLite keeps a transaction undoable. */
public enum Journal {
  /** A rollback journal, deleted at each commit: one file at rest, the default. */
  DELETE,
  /**
   * A write-ahead log: faster, readers and the writer don't wait for each other. The database is
   * three files, all on this machine's disk, and stays in this mode until told otherwise.
   */
  WAL
}
