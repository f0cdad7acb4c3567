/** Files are kept per owner: equal files of two owners are two files. */
export interface FileOwner {
  readonly ownerId: string
  readonly mode: string
}

export interface FileContent {
  readonly sha256: string
  readonly bytes: Uint8Array
}

export interface StagedFile {
  /** Names the file, durably once it returns. May be repeated. */
  keep(): Promise<void>
  drop(): Promise<void>
}

/** A thread opens the destination of an arriving file by importing the module and calling the function. */
export interface FileSinkTask {
  readonly module: string
  readonly name: string
  readonly args: readonly unknown[]
}

export interface FileSink {
  /** The bytes may be reused when this returns; the promise resolves when the next ones may come. */
  write(bytes: Uint8Array): Promise<void> | undefined
  /** The file is complete, with this digest. Rejects if a write failed. */
  end(sha256: string): Promise<void>
  finish(...args: readonly unknown[]): Promise<void>
  drop(): Promise<void>
}

export interface FileStaging {
  readonly sink: FileSinkTask
  named(sha256: string): Promise<{ readonly finish: readonly unknown[]; readonly file: StagedFile }>
}

/** Each piece is returned only after its integrity was verified. */
export interface OpenedStoredFile {
  readonly size: number
  readonly content: AsyncIterable<Uint8Array>
}

/** Files of one folder that may be unreferenced: the sweep looks for rows that name them. */
export interface UnreferencedFileBatch {
  readonly owner: FileOwner
  readonly sha256s: readonly string[]
}

/** The content differs from what was written: the disk is damaged, or the file was changed. */
export class DamagedFileError extends Error {}

/**
 * Files outside of the database, addressed by their content within the tenant, encrypted, and written whole
 * or not at all. Handlers do not call this: they keep uploads by `referenceStoredFile`, in the transaction that uses
 * them.
 */
export interface FileStore {
  /** Writes and flushes the file without a name: slow work is done before a transaction begins. */
  stage(owner: FileOwner, content: FileContent): Promise<StagedFile>
  /** The same for bytes that a thread receives: they never reach the event loop. */
  staging(owner: FileOwner): FileStaging
  /** Writes and names a file. The sweep removes it if no row names it within an hour. */
  put(owner: FileOwner, bytes: Uint8Array): Promise<{ readonly sha256: string; readonly bytes: number }>
  /** Undefined if there is no such file. Reading throws `DamagedFileError` at the first piece that fails verification. */
  open(owner: FileOwner, sha256: string): Promise<OpenedStoredFile | undefined>
  erase(owner: FileOwner, sha256: string): Promise<void>
  keptAt(owner: FileOwner, sha256: string): Promise<Date | undefined>
  keptBefore(end: Date): AsyncIterable<UnreferencedFileBatch>
  /** Removes files that were staged before this instant and never kept: a crash left them. */
  dropLeftovers(end: Date): Promise<void>
}
