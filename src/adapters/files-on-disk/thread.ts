import { type FileHandle, rm } from 'node:fs/promises'
import type { FileSink } from '../../ports/files.ts'
import { detachBytes } from '../../values/free-memory.ts'
import { type FileDataKey, FileEncryptor } from './seal.ts'
import { createPrivateFile, totalLength, writeParts } from './write.ts'

/** Bytes per write: each call waits for a thread of the pool, which takes long on a busy machine. */
const MAX_BUFFERED = 1_048_576

/** Writes an encrypted file under a random name while it arrives. It has only the key of this file. */
export const writeSealed = (unnamed: string, seal: FileDataKey): FileSink => new SealedFile(unnamed, seal)

class SealedFile implements FileSink {
  readonly #path: string
  readonly #sealing: FileEncryptor
  #file: Promise<FileHandle> | undefined
  #held: Uint8Array[] = []
  #heldBytes = 0
  #position: number
  /** The last write; at most one is under way. A failure is reported at the end. */
  #writing: Promise<void> = Promise.resolve()
  #flushing: Promise<void> = Promise.resolve()
  #isFlushing = false

  constructor(path: string, seal: FileDataKey) {
    this.#path = path
    this.#sealing = new FileEncryptor(seal)
    this.#position = this.#sealing.begin
  }

  write(bytes: Uint8Array): Promise<void> | undefined {
    const parts = this.#sealing.add(bytes)
    this.#held.push(...parts)
    this.#heldBytes += bytes.length
    if (this.#heldBytes < MAX_BUFFERED) return undefined
    const before = this.#writing.catch(() => undefined)
    this.#send()
    this.#flush()
    return before
  }

  #send(): void {
    const parts = this.#held
    const position = this.#position
    this.#position += totalLength(parts)
    this.#held = []
    this.#heldBytes = 0
    this.#file ??= createPrivateFile(this.#path)
    const file = this.#file
    this.#writing = this.#writing.then(async () => {
      await writeParts(await file, parts, position)
      for (const part of parts) detachBytes(part)
    })
    this.#writing.catch(() => undefined)
  }

  /** Starts flushing while the rest still arrives, so that the end waits less. */
  #flush(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    this.#flushing = this.#writing.then(async () => {
      await (await this.#file)?.datasync()
      this.#isFlushing = false
    })
    this.#flushing.catch(() => undefined)
  }

  async end(sha256: string): Promise<void> {
    const { last, head } = this.#sealing.end(sha256)
    this.#held.push(...last)
    const isBegun = this.#file !== undefined
    if (!isBegun) this.#begin(head)
    this.#send()
    const file = await this.#file
    if (!file) throw new Error('a file is open once something of it has been written')
    await Promise.all([this.#writing, isBegun ? writeParts(file, head, 0) : undefined])
    // A file system reports a failed write once, to the first flush, so both are awaited.
    await Promise.all([file.sync(), this.#flushing])
    // The data is on disk, so closing the handle need not be awaited.
    file.close().catch(() => undefined)
  }

  /** The whole file is buffered: its head is written in the same call. */
  #begin(head: readonly Uint8Array[]): void {
    this.#held.unshift(Buffer.concat(head))
    this.#position = 0
  }

  async finish(): Promise<void> {}

  async drop(): Promise<void> {
    await Promise.allSettled([this.#writing, this.#flushing])
    const file = await this.#file?.catch(() => undefined)
    if (!file) return
    await file.close().catch(() => undefined)
    await rm(this.#path, { force: true })
  }
}
