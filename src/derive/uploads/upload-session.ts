import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { AnyOperation } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import {
  findUploads,
  maxUploadBytes,
  type StorableFile,
  UploadedFile,
  type UploadedView,
  wrongMediaTypeRefusal,
} from '../../kernel/contract/upload.ts'
import type { FileStaging, FileStore, StagedFile } from '../../ports/files.ts'
import type { ThreadByteFeed, Threads } from '../../ports/threads.ts'
import type { FilePreview, FilePreviewResult, FileViewer, FileViewTask } from '../../ports/viewer.ts'
import { invalidRequest, JSON_TYPE } from '../http/body.ts'
import {
  checkBodyHeaders,
  declaredBodyLength,
  extendBodyDeadline,
  hasRequestBody,
  type ReserveMemory,
  streamRequestBody,
} from '../http/body-bytes.ts'
import type { BodyReport, FileOrder } from './thread.ts'

interface UploadTools {
  readonly threads: Threads
  readonly files: FileStore
  readonly viewer: FileViewer
  readonly room: ReserveMemory
  /** Limits how many bodies of one turn are read at once. */
  readonly turn: string
  readonly onFailure: (error: unknown) => void
}

const MULTIPART = /^multipart\/form-data\s*;/i

const WINDOW = 3_145_728

/** A body with files, from its first byte until the request is answered. Afterwards only kept files remain. */
export class UploadSession {
  readonly #tools: UploadTools
  readonly #releases: (() => void)[] = []
  readonly #files = new Map<string, UploadedFile>()
  #viewed: readonly string[] = []
  readonly #stagings = new Map<string, FileStaging>()
  readonly #pictures: StagedFile[] = []
  #feed: ThreadByteFeed | undefined
  #isRead = false
  #isStaged = false
  #order: FileOrder | undefined

  constructor(tools: UploadTools) {
    this.#tools = tools
  }

  /** Returns the members of the body, with an `UploadedFile` for each file. A file is written while it arrives. */
  async read(request: IncomingMessage, operation: AnyOperation, tenant: Tenant | null): Promise<unknown> {
    const type = request.headers['content-type'] ?? ''
    if (!hasRequestBody(request)) return {}
    const isForm = MULTIPART.test(type)
    if (!isForm && !JSON_TYPE.test(type))
      throw new Problem('unsupported_media_type', wrongMediaTypeRefusal(operation)[1])
    const limit = maxUploadBytes(operation, isForm)
    checkBodyHeaders(request, limit)
    this.#viewed = [...findUploads(operation.body)].flatMap(([name, { viewed }]) => (viewed ? [name] : []))
    await this.#takeRoom(request, declaredBodyLength(request.headers) || limit, isForm)
    const feed = await this.#begin(type, operation, tenant)
    const length = await streamRequestBody(request, limit, feed)
    feed.end()
    if (length === 0) return {}
    const told = await this.#next(feed)
    if ('problem' in told) throw new Problem(told.problem.code, told.problem.message)
    if (!('members' in told)) throw new Error('a body is read before anything is done with it')
    for (const [name, facts] of Object.entries(told.files)) this.#files.set(name, new UploadedFile(facts))
    return this.#files.size > 0
      ? { ...(told.members as object), ...Object.fromEntries(this.#files) }
      : told.members
  }

  /** A thread reads the body while it arrives. JSON, and files that are inspected as a whole, stay in its memory. */
  async #begin(type: string, operation: AnyOperation, tenant: Tenant | null): Promise<ThreadByteFeed> {
    if (!tenant) throw new Error('files belong to a tenant: the operation must not be open to others')
    const { threads, turn, files } = this.#tools
    const names = [...findUploads(operation.body).keys()]
    for (const name of names) this.#stagings.set(name, files.staging(tenant))
    const sinks = Object.fromEntries([...this.#stagings].map(([name, { sink }]) => [name, sink]))
    const module = new URL('./thread.ts', import.meta.url)
    const shape = { files: names, json: membersAsJson(operation) }
    const args = [type, shape, { sinks, viewed: this.#viewed }]
    this.#feed = await threads.feed({ module, name: 'receive', owner: turn }, args, this.#orders())
    return this.#feed
  }

  async #next(feed: ThreadByteFeed): Promise<BodyReport> {
    const told = await feed.next()
    this.#isRead = true
    if (told === undefined) throw new Error('the thread has nothing more to tell')
    return told as BodyReport
  }

  async *#orders(): AsyncGenerator<FileOrder> {
    for (; this.#order; ) {
      const order = this.#order
      this.#order = undefined
      yield order
    }
  }

  /** Completes the files in the store, so that the handler's transaction only has to name them. */
  async stage(tenant: Tenant | null): Promise<void> {
    if (!tenant) throw new Error('files belong to a tenant: the operation must not be open to others')
    for (const [member, file] of this.#files) {
      const view = this.#viewed.includes(member) ? await this.#look(member, file) : undefined
      const named = await this.#orFail(this.#stagings.get(member)?.named(file.sha256))
      await this.#orFail(this.#have({ member, finish: named?.finish ?? [] }))
      file.staged = named?.file
      if (view) file.view = await this.#stageView(tenant, view)
    }
    this.#isStaged = true
    this.#free()
  }

  async #have(order: FileOrder): Promise<unknown> {
    if (!this.#feed) throw new Error('a thread has the files that have come')
    this.#order = order
    const told = await this.#next(this.#feed)
    return 'done' in told ? told.result : undefined
  }

  /** A store that cannot write at present is not a defect: the client may retry. */
  #orFail<T>(writing: T | Promise<T>): Promise<T> {
    return Promise.resolve(writing).catch((error: unknown) => {
      if (error instanceof Problem) throw error
      this.#tools.onFailure(error)
      throw new Problem('files_unavailable')
    })
  }

  /** A file that cannot be decoded completely is not kept. */
  async #look(member: string, { kind }: UploadedFile): Promise<FilePreview> {
    const { viewer, turn } = this.#tools
    const carryOut = async (task: FileViewTask) =>
      (await this.#have({ member, ...task })) as FilePreviewResult
    const looked = await this.#orFail(viewer.render(turn, kind, carryOut))
    if ('problem' in looked) throw invalidRequest(member, looked.problem)
    return looked
  }

  async #stageView(tenant: Tenant, { small, large, ...told }: FilePreview): Promise<UploadedView> {
    return { ...told, small: await this.#picture(tenant, small), large: await this.#picture(tenant, large) }
  }

  async #picture(tenant: Tenant, bytes: Uint8Array): Promise<StorableFile> {
    const sha256 = hash('sha256', bytes, 'hex')
    const staged = await this.#orFail(this.#tools.files.stage(tenant, { sha256, bytes }))
    this.#pictures.push(staged)
    return { sha256, size: bytes.length, kind: 'image/webp', staged }
  }

  #free(): void {
    this.#feed?.close()
    this.#feed = undefined
    for (const release of this.#releases.splice(0)) release()
  }

  async end(): Promise<void> {
    if (!this.#isStaged) await this.#abandon()
    this.#free()
    const originals = [...this.#files.values()].map(({ staged }) => staged)
    for (const staged of [...originals, ...this.#pictures]) await staged?.drop().catch(this.#tools.onFailure)
  }

  async #abandon(): Promise<void> {
    const feed = this.#feed
    if (!feed) return
    try {
      if (!this.#isRead) feed.breakOff()
      if (!this.#isRead) await this.#next(feed)
      for (const member of this.#files.keys()) await this.#have({ member, drop: true })
    } catch {
      // The thread has ended, and has removed what it could.
    }
  }

  /** The memory stays reserved until the files are on disk. */
  async #takeRoom(request: IncomingMessage, length: number, isForm: boolean): Promise<void> {
    const isStreamed = isForm && this.#viewed.length === 0
    this.#releases.push(await this.#tools.room(isStreamed ? Math.min(length, WINDOW) : length))
    extendBodyDeadline(request, length)
  }
}

const found = new WeakMap<AnyOperation, readonly string[]>()

function membersAsJson(operation: AnyOperation): readonly string[] {
  const known = found.get(operation) ?? readMembers(operation)
  found.set(operation, known)
  return known
}

function readMembers({ body }: AnyOperation): readonly string[] {
  const files = findUploads(body)
  const members = Object.entries<z.ZodType>((body as z.ZodObject).shape)
  return members.flatMap(([name, member]) =>
    files.has(name) || isText(z.toJSONSchema(member, { io: 'input', unrepresentable: 'any' })) ? [] : [name],
  )
}

function isText({ type, anyOf, enum: values, const: only }: z.core.JSONSchema.BaseSchema): boolean {
  if (anyOf) return anyOf.some(option => isText(option as z.core.JSONSchema.BaseSchema))
  if (type) return type === 'string'
  return [...(values ?? []), only].some(value => typeof value === 'string')
}
