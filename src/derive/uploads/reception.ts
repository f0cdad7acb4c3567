import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { AnyOperation } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import {
  type Keepable,
  UploadedFile,
  type UploadedView,
  uploadLimitOf,
  uploadsIn,
  wrongMediaType,
} from '../../kernel/contract/upload.ts'
import type { Files, StagedFile } from '../../ports/files.ts'
import type { Threads } from '../../ports/threads.ts'
import type { Looked, View, Viewer } from '../../ports/viewer.ts'
import { invalid, JSON_TYPE } from '../http/body.ts'
import { announcesBody, readBytes, type TakeRoom } from '../http/body-bytes.ts'
import { grantTime } from '../http/body-time.ts'
import { membersAsJson } from './shape.ts'
import type { Order, Told } from './thread.ts'

export interface ReceptionTools {
  readonly threads: Threads
  readonly files: Files
  readonly viewer: Viewer
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
  readonly #files = new Map<string, UploadedFile>()
  /** The members that are looked at. */
  readonly #viewed = new Set<string>()
  readonly #pictures: StagedFile[] = []
  #pieces: AsyncIterator<Told> | undefined
  #order: Order | undefined

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
    for (const [name, { viewed }] of uploadsIn(operation.body)) if (viewed) this.#viewed.add(name)
    const told = await this.#begin(alone(bytes), type, operation)
    if ('problem' in told) throw new Problem(told.problem.code, told.problem.message)
    if (!('members' in told)) throw new Error('a body is read before anything is done with it')
    for (const [name, facts] of Object.entries(told.files)) this.#files.set(name, new UploadedFile(facts))
    return this.#files.size > 0
      ? { ...(told.members as object), ...Object.fromEntries(this.#files) }
      : told.members
  }

  /** Hands the body to a thread, which keeps its bytes until the request is answered. */
  async #begin(body: Uint8Array<ArrayBuffer>, type: string, operation: AnyOperation): Promise<Told> {
    const module = new URL('./thread.ts', import.meta.url)
    const task = { module, name: 'receive', owner: this.#tools.turn, transfer: [body.buffer] }
    const shape = { files: [...uploadsIn(operation.body).keys()], json: membersAsJson(operation) }
    const pieces = this.#tools.threads.stream(task, [body, type, shape], this.#orders())
    this.#pieces = pieces[Symbol.asyncIterator]() as unknown as AsyncIterator<Told>
    return this.#next()
  }

  async #next(): Promise<Told> {
    const { done, value } = (await this.#pieces?.next()) ?? { done: true }
    if (done) throw new Error('the thread has nothing more to tell')
    return value
  }

  async *#orders(): AsyncGenerator<Order> {
    for (; this.#order; ) {
      const order = this.#order
      this.#order = undefined
      yield order
    }
  }

  /** Writes the files to the store, so that the handler's transaction has only to name them. */
  async stage(tenant: Tenant | null): Promise<void> {
    if (!tenant) throw new Error('files belong to a tenant: the operation must not be open to others')
    for (const [member, file] of this.#files) {
      const view = this.#viewed.has(member) ? await this.#look(member, file) : undefined
      const staging = this.#tools.files.staging(tenant, file.sha256, file.size)
      const { task, file: staged } = await this.#orFail(staging)
      file.staged = staged
      await this.#have(member, task)
      if (view) file.view = await this.#stageView(tenant, view)
    }
    await this.#free()
  }

  /** Has the thread do something with the bytes of a file. */
  async #have(member: string, task: Omit<Order, 'member'>): Promise<unknown> {
    this.#order = { member, ...task }
    const told = await this.#orFail(this.#next())
    return 'done' in told ? told.result : undefined
  }

  /** A store that cannot write just now is no defect of ours: the client may try again. */
  #orFail<T>(writing: Promise<T>): Promise<T> {
    return writing.catch((error: unknown) => {
      if (error instanceof Problem) throw error
      this.#tools.onFailure(error)
      throw new Problem('files_unavailable')
    })
  }

  /** Nothing is written of a file that cannot be decoded to its end. */
  async #look(member: string, { kind }: UploadedFile): Promise<View> {
    const looked = (await this.#have(member, this.#tools.viewer.task(kind))) as Looked
    if ('busy' in looked) throw new Problem('overloaded')
    if ('problem' in looked) throw invalid(member, looked.problem)
    return looked
  }

  async #stageView(tenant: Tenant, { small, large, ...told }: View): Promise<UploadedView> {
    return { ...told, small: await this.#picture(tenant, small), large: await this.#picture(tenant, large) }
  }

  async #picture(tenant: Tenant, bytes: Uint8Array): Promise<Keepable> {
    const sha256 = hash('sha256', bytes, 'hex')
    const staged = await this.#orFail(this.#tools.files.stage(tenant, { sha256, bytes }))
    this.#pictures.push(staged)
    return { sha256, size: bytes.length, kind: 'image/webp', staged }
  }

  /** The bytes are no longer needed: their memory, and the turn of whoever uploads next. */
  async #free(): Promise<void> {
    await this.#pieces?.return?.()
    for (const release of this.#releases.splice(0)) release()
  }

  async end(): Promise<void> {
    await this.#free()
    const originals = [...this.#files.values()].map(({ staged }) => staged)
    for (const staged of [...originals, ...this.#pictures]) await staged?.drop().catch(this.#tools.onFailure)
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

/** Bytes in memory of their own, which can move into a thread. */
const alone = (bytes: Buffer): Uint8Array<ArrayBuffer> =>
  bytes.length > Buffer.poolSize && bytes.length === bytes.buffer.byteLength
    ? (bytes as Buffer<ArrayBuffer>)
    : new Uint8Array(bytes)
