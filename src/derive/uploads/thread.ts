import { Problem, type ProblemCode } from '../../kernel/contract/problem.ts'
import type { FileSink, FileSinkTask } from '../../ports/files.ts'
import { invalidRequest, parseBoundedJson, refuseUnstorable } from '../http/body.ts'
import { type FileFacts, type FileUse, IncomingFile } from './incoming-file.ts'
import { Base64Reader, JsonFilesReader } from './json-files.ts'
import { MultipartReader } from './multipart.ts'

/** The members that are files, and the members that are JSON in a part because they are neither files nor texts. */
export interface MultipartShape {
  readonly files: readonly string[]
  readonly json: readonly string[]
}

export type ReadBody =
  | { readonly problem: { readonly code: ProblemCode; readonly message: string } }
  | { readonly members: unknown; readonly files: Readonly<Record<string, FileFacts>> }

export interface FileUses {
  readonly sinks: Readonly<Record<string, FileSinkTask>>
  readonly viewed: readonly string[]
}

/** An accepted file is finished, abandoned, or passed as a whole to a function. */
export type FileOrder =
  | { readonly member: string; readonly finish: readonly unknown[] }
  | { readonly member: string; readonly drop: true }
  | {
      readonly member: string
      readonly module: string
      readonly name: string
      readonly args: readonly unknown[]
    }

export type BodyReport = ReadBody | { readonly done: string; readonly result: unknown }

/**
 * Runs in a thread: reads a body while it arrives, writes its files, reports the members, and carries out the
 * orders for the files. Removes every file that it does not finish.
 */
export async function* receive(
  contentType: string,
  shape: MultipartShape,
  { sinks, viewed }: FileUses,
  body: AsyncIterable<Uint8Array>,
  orders: AsyncIterable<FileOrder>,
): AsyncGenerator<BodyReport> {
  const opened = await openSinks(sinks)
  const files = new Map<string, IncomingFile>()
  const open = (name: string): IncomingFile => {
    const file = new IncomingFile({ sink: opened.get(name), isViewed: viewed.includes(name) })
    files.set(name, file)
    return file
  }
  try {
    const read = await readBody(body, contentType, shape, open)
    if ('problem' in read) await dropAll(files)
    yield read
    for await (const order of orders) {
      const result = await carryOut(order, files)
      yield { done: order.member, result }
    }
  } finally {
    await dropAll(files)
  }
}

async function openSinks(tasks: FileUses['sinks']): Promise<Map<string, FileSink>> {
  const sinks = new Map<string, FileSink>()
  for (const [member, { module, name, args }] of Object.entries(tasks))
    sinks.set(member, (await import(module))[name](...args))
  return sinks
}

async function carryOut(order: FileOrder, files: Map<string, IncomingFile>): Promise<unknown> {
  const file = files.get(order.member)
  if (!file) throw new Error('orders are for files that have come')
  if ('drop' in order) return file.drop()
  if (!('finish' in order)) return (await import(order.module))[order.name](file.bytes(), ...order.args)
  await file.finish(order.finish)
  return files.delete(order.member)
}

async function dropAll(files: Map<string, IncomingFile>): Promise<void> {
  for (const file of files.values()) await file.drop()
  files.clear()
}

const keptNowhere = (): IncomingFile =>
  new IncomingFile({ sink: undefined, isViewed: false } satisfies FileUse)

/** Reads a body with files, and reports each file. After an error, the rest is read and ignored. */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
  shape: MultipartShape,
  open: (name: string) => IncomingFile = keptNowhere,
): Promise<ReadBody> {
  const pieces = body[Symbol.asyncIterator]()
  try {
    return await (/^multipart\//i.test(contentType)
      ? readMultipart(pieces, contentType, shape, open)
      : readJson(pieces, shape, open))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    for (let next = await pieces.next(); !next.done; next = await pieces.next());
    return { problem: { code: error.code as ProblemCode, message: error.message } }
  }
}

type Pieces = AsyncIterator<Uint8Array>
type Open = (name: string) => IncomingFile

async function readMultipart(
  pieces: Pieces,
  contentType: string,
  { files, json }: MultipartShape,
  open: Open,
): Promise<ReadBody> {
  const reader = new MultipartReader(contentType, name => {
    if (!files.includes(name)) throw invalidRequest(name, 'there is no such file')
    return open(name)
  })
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) await reader.add(next.value)
  const texts: Record<string, unknown> = Object.create(null)
  const found: Record<string, FileFacts> = Object.create(null)
  for (const [name, value] of await reader.end()) {
    if (typeof value !== 'string') found[name] = value
    else if (files.includes(name)) throw invalidRequest(name, 'must be a file: its part needs a file name')
    else texts[name] = json.includes(name) ? parsed(name, value) : value
  }
  refuseUnstorable(texts)
  return { members: { ...texts }, files: { ...found } }
}

/**
 * Parses a part that is not a text in the contract. Invalid JSON is returned unchanged, and the contract then
 * refuses it.
 */
function parsed(name: string, text: string): unknown {
  try {
    return parseBoundedJson(Buffer.from(text))
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_json') return text
    throw invalidRequest(name, (error as Error).message)
  }
}

async function readJson(pieces: Pieces, { files }: MultipartShape, open: Open): Promise<ReadBody> {
  const reader = new JsonFilesReader(files, open)
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) await reader.add(next.value)
  const { rest, found } = reader.end()
  const value = parseBoundedJson(rest)
  const members = objectOf(value)
  if (!members) return { members: value, files: {} }
  const facts: Record<string, FileFacts> = {}
  for (const name of files) {
    const text = members[name]
    if (typeof text !== 'string') continue
    const streamed = found.get(name)
    if (streamed && streamed.place !== text) throw invalidRequest(name, 'given more than once')
    const file = streamed?.file ?? (await wholeFile(name, text, open))
    if (file.facts) facts[name] = { ...file.facts, name: null }
    delete members[name]
  }
  return { members, files: facts }
}

async function wholeFile(name: string, text: string, open: Open): Promise<IncomingFile> {
  const base64 = new Base64Reader(name)
  const file = open(name)
  for (const bytes of [...base64.add(Buffer.from(text)), base64.end()]) await file.add(bytes)
  file.end('', '')
  return file
}

const objectOf = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
