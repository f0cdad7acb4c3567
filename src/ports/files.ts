/** Whose files they are: nobody else's are found, and equal files of two owners are two. */
export interface FileOwner {
  readonly ownerId: string
  readonly mode: string
}

/** A file by its content: the SHA-256 of its bytes, in lower-case hexadecimal digits. */
export interface FileContent {
  readonly sha256: string
  readonly bytes: Uint8Array
}

/** A file that is whole on disk and has no name yet. */
export interface StagedFile {
  /** Gives the file its name, for good once it returns. Repeating it changes nothing. */
  keep(): Promise<void>
  /** Removes what has no name. A file that is kept stays. */
  drop(): Promise<void>
}

/** How a thread opens the place of a file that is arriving: it imports the module and calls the function. */
export interface SinkTask {
  readonly module: string
  readonly name: string
  readonly args: readonly unknown[]
}

/** Where a thread writes a file, piece by piece, while it arrives. */
export interface FileSink {
  /** The bytes are no longer needed when this returns; the promise resolves when the next ones may come. */
  write(bytes: Uint8Array): Promise<void> | undefined
  /** All of the file has come, and this is its content's digest. Rejects where something could not be written. */
  end(sha256: string): Promise<void>
  /** Makes the file whole in the store, with what `Staging.named` has given for it. */
  finish(...args: readonly unknown[]): Promise<void>
  /** Removes what has been written. */
  drop(): Promise<void>
}

/** A file that a thread writes while it arrives, before anybody knows what it is. */
export interface Staging {
  readonly sink: SinkTask
  /** What the sink needs to finish a file with this content, which is whole in the store then. */
  named(sha256: string): Promise<{ readonly finish: readonly unknown[]; readonly file: StagedFile }>
}

/** A file that can be read: each piece is given only once it has been found to be what was written. */
export interface OpenedFile {
  readonly size: number
  readonly content: AsyncIterable<Uint8Array>
}

/** Files of one folder that no row may name: the sweep asks which do. */
export interface AgedFiles {
  readonly owner: FileOwner
  readonly sha256s: readonly string[]
}

/** The content is not what was written: the disk has lost some of it, or somebody has changed it. */
export class DamagedFile extends Error {}

/**
 * Files beside the database, addressed by their content within the tenant, encrypted, and written whole or not at all. A
 * handler does not call this: it keeps what was uploaded with `keepFile`, in the transaction that uses it.
 */
export interface Files {
  /** Writes the file to the disk and flushes it, without a name: what is long is done before a transaction begins. */
  stage(owner: FileOwner, content: FileContent): Promise<StagedFile>
  /** The same for bytes that a thread receives: they never come here. */
  staging(owner: FileOwner): Staging
  /** Writes a file and gives it its name: one that no row comes to name within an hour is swept. */
  put(owner: FileOwner, bytes: Uint8Array): Promise<{ readonly sha256: string; readonly bytes: number }>
  /** Undefined where there is no such file. Reading throws `DamagedFile` at the first piece that is not as written. */
  open(owner: FileOwner, sha256: string): Promise<OpenedFile | undefined>
  erase(owner: FileOwner, sha256: string): Promise<void>
  /** When the file was kept last; undefined where there is none. */
  keptAt(owner: FileOwner, sha256: string): Promise<Date | undefined>
  /** All files that were kept before this instant. */
  keptBefore(end: Date): AsyncIterable<AgedFiles>
  /** Removes what was staged before this instant and never kept: a crash has left it. */
  dropLeftovers(end: Date): Promise<void>
}
