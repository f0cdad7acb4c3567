import { type FileHandle, rm } from 'node:fs/promises'
import type { FileSink } from '../../ports/files.ts'
import { freeMemory } from '../../values/free-memory.ts'
import { type Seal, Sealing } from './seal.ts'
import { lengthOf, newFile, writeAll } from './write.ts'

/** So much is written at once: each call costs a turn of a thread, which a busy machine gives late. */
const MOST_HELD = 1_048_576

/** Writes a file, encrypted, under a name that says nothing, while it arrives. It knows the key of this one file alone. */
export const writeSealed = (unnamed: string, seal: Seal): FileSink => new SealedFile(unnamed, seal)

class SealedFile implements FileSink {
  readonly #path: string
  readonly #sealing: Sealing
  #file: Promise<FileHandle> | undefined
  #held: Uint8Array[] = []
  #heldBytes = 0
  #position: number
  /** The write before: at most one is under way. A failure is told at the end. */
  #writing: Promise<void> = Promise.resolve()
  #flushing: Promise<void> = Promise.resolve()
  #isFlushing = false

  constructor(path: string, seal: Seal) {
    this.#path = path
    this.#sealing = new Sealing(seal)
    this.#position = this.#sealing.begin
  }

  write(bytes: Uint8Array): Promise<void> | undefined {
    const parts = this.#sealing.add(bytes)
    this.#held.push(...parts)
    this.#heldBytes += bytes.length
    if (this.#heldBytes < MOST_HELD) return undefined
    const before = this.#writing.catch(() => undefined)
    this.#send()
    this.#flush()
    return before
  }

  /** Writes what is held, behind what is being written. */
  #send(): void {
    const parts = this.#held
    const position = this.#position
    this.#position += lengthOf(parts)
    this.#held = []
    this.#heldBytes = 0
    this.#file ??= newFile(this.#path)
    const file = this.#file
    this.#writing = this.#writing.then(async () => {
      await writeAll(await file, parts, position)
      for (const part of parts) freeMemory(part)
    })
    this.#writing.catch(() => undefined)
  }

  /** Has the disk begin while the rest still arrives: at the end little is left to wait for. */
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
    await Promise.all([this.#writing, isBegun ? writeAll(file, head, 0) : undefined])
    // What a disk could not write it says once, to whoever asked first.
    await Promise.all([file.sync(), this.#flushing])
    // It is on disk: nobody waits for the end of its handle.
    file.close().catch(() => undefined)
  }

  /** All of the file is held: its head goes before it in the same call. */
  #begin(head: readonly Uint8Array[]): void {
    this.#held.unshift(Buffer.concat(head))
    this.#position = 0
  }

  /** It is whole already. */
  async finish(): Promise<void> {}

  async drop(): Promise<void> {
    await Promise.allSettled([this.#writing, this.#flushing])
    const file = await this.#file?.catch(() => undefined)
    if (!file) return
    await file.close().catch(() => undefined)
    await rm(this.#path, { force: true })
  }
}
