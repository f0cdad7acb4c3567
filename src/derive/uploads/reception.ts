import type { IncomingMessage } from 'node:http'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { AnyOperation } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { UploadedFile, uploadLimitOf, uploadsIn, wrongMediaType } from '../../kernel/contract/upload.ts'
import type { Files } from '../../ports/files.ts'
import type { Threads } from '../../ports/threads.ts'
import { JSON_TYPE } from '../http/body.ts'
import { announcesBody, readBytes, type TakeRoom } from '../http/body-bytes.ts'
import { grantTime } from '../http/body-time.ts'
import { membersAsJson } from './shape.ts'
import type { readBody } from './thread.ts'

export interface ReceptionTools {
  readonly threads: Threads
  readonly files: Files
  /** Reserves memory until the files are on disk. */
  readonly room: TakeRoom
  /** Whose bodies are read one after the other. */
  readonly turn: string
  readonly onFailure: (error: unknown) => void
}

const MULTIPART = /^multipart\/form-data\s*;/i

/** A body with files, from its first byte until the request is answered: then nothing is left but what was kept. */
export class Reception {
  readonly #tools: ReceptionTools
  readonly #releases: (() => void)[] = []
  readonly #staged: UploadedFile[] = []

  constructor(tools: ReceptionTools) {
    this.#tools = tools
  }

  /** The members of the body, with an `UploadedFile` for each file. Nothing is on disk yet. */
  async read(request: IncomingMessage, operation: AnyOperation): Promise<unknown> {
    const type = request.headers['content-type'] ?? ''
    if (!announcesBody(request)) return {}
    if (!MULTIPART.test(type) && !JSON_TYPE.test(type))
      throw new Problem('unsupported_media_type', wrongMediaType(operation)[1])
    const room = this.#roomFor(request)
    const bytes = await readBytes(request, uploadLimitOf(operation, MULTIPART.test(type)), room)
    if (bytes.length === 0) return {}
    const names = [...uploadsIn(operation.body).keys()]
    const { threads, turn } = this.#tools
    const read = await threads.run<typeof readBody>(
      { module: new URL('./thread.ts', import.meta.url), name: 'readBody', owner: turn },
      alone(bytes),
      type,
      { files: names, json: membersAsJson(operation) },
    )
    if ('problem' in read) throw new Problem(read.problem.code, read.problem.message)
    const files = Object.entries(read.files).map(([name, file]) => [name, new UploadedFile(file)])
    return files.length > 0 ? { ...(read.members as object), ...Object.fromEntries(files) } : read.members
  }

  /** Writes the files to the disk, so that the handler's transaction has only to name them. */
  async stage(body: object, tenant: Tenant | null): Promise<void> {
    if (!tenant) throw new Error('files belong to a tenant: the operation must not be open to others')
    for (const file of Object.values(body).filter(member => member instanceof UploadedFile)) {
      file.staged = await this.#tools.files.stage(tenant, file).catch((error: unknown) => {
        this.#tools.onFailure(error)
        throw new Problem('files_unavailable')
      })
      this.#staged.push(file)
    }
  }

  async end(): Promise<void> {
    for (const release of this.#releases) release()
    for (const { staged } of this.#staged) await staged?.drop().catch(this.#tools.onFailure)
  }

  /** The memory stays reserved: the files are in it until they are on disk. */
  #roomFor(request: IncomingMessage): TakeRoom {
    return async bytes => {
      this.#releases.push(await this.#tools.room(bytes))
      grantTime(request, bytes)
      return () => undefined
    }
  }
}

/** Bytes that share their memory with others would be copied with them. */
const alone = (bytes: Buffer): Uint8Array =>
  bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
