import { createHash } from 'node:crypto'
import type { FileSink } from '../../ports/files.ts'
import { detectFileKind, type FileKind, sanitizeFileName } from '../../values/file-kind.ts'

const START = 64

export interface FileFacts {
  readonly name: string | null
  readonly declaredType: string | null
  readonly kind: FileKind | undefined
  readonly sha256: string
  readonly size: number
}

export interface FileUse {
  readonly sink: FileSink | undefined
  readonly isViewed: boolean
}

export class IncomingFile {
  readonly #hash = createHash('sha256')
  readonly #use: FileUse
  readonly #pieces: Uint8Array[] = []
  #start = Buffer.alloc(0)
  #size = 0
  #written: Promise<void> | undefined
  facts: FileFacts | undefined

  constructor(use: FileUse) {
    this.#use = use
  }

  /** The caller may reuse the bytes once the promise has resolved. */
  add(bytes: Uint8Array): Promise<void> | undefined {
    if (bytes.length === 0) return undefined
    if (this.#start.length < START) this.#start = Buffer.concat([this.#start, bytes.subarray(0, START)])
    this.#size += bytes.length
    this.#hash.update(bytes)
    if (this.#use.isViewed) this.#pieces.push(Uint8Array.from(bytes))
    return this.#use.sink?.write(bytes)
  }

  end(name: string, type: string): void {
    const sha256 = this.#hash.digest('hex')
    const declaredType = /^[\w.+-]{1,60}\/[\w.+-]{1,60}/.exec(type)?.[0].toLowerCase() ?? null
    this.facts = {
      name: sanitizeFileName(name),
      declaredType,
      kind: detectFileKind(this.#start),
      sha256,
      size: this.#size,
    }
    this.#written = this.#use.sink?.end(sha256)
    this.#written?.catch(() => undefined)
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#pieces)
  }

  async finish(args: readonly unknown[]): Promise<void> {
    await this.#written
    await this.#use.sink?.finish(...args)
  }

  async drop(): Promise<void> {
    await this.#use.sink?.drop()
  }
}
