import { hash } from 'node:crypto'
import { Problem, type ProblemCode } from '../../kernel/contract/problem.ts'
import { type FileKind, kindOfFile, tidyFileName } from '../../values/file-kind.ts'
import { inspect, invalid, jsonOf } from '../http/body.ts'
import { withoutLongTexts } from './long-texts.ts'
import { type FilePart, membersOf } from './multipart.ts'

/** Which members of the body are files, and which are neither files nor texts: those come as JSON in a part. */
export interface Shape {
  readonly files: readonly string[]
  readonly json: readonly string[]
}

export interface FileFacts {
  readonly name: string | null
  readonly declaredType: string | null
  readonly kind: FileKind | undefined
  readonly sha256: string
  readonly size: number
}

export interface ReadFile extends FileFacts {
  readonly bytes: Uint8Array
}

export type ReadBody =
  | { readonly problem: { readonly code: ProblemCode; readonly message: string } }
  | { readonly members: unknown; readonly files: Readonly<Record<string, ReadFile>> }

/** What a thread does with a file that has been found good. */
export interface Order {
  readonly member: string
  readonly module: string
  readonly name: string
  readonly args: readonly unknown[]
}

export type Told =
  | Extract<ReadBody, { problem: object }>
  | { readonly members: unknown; readonly files: Readonly<Record<string, FileFacts>> }
  | { readonly done: string; readonly result: unknown }

/** Reads a body, tells what is in it, and carries out the orders for its files. It runs in a thread, where the bytes stay. */
export async function* receive(
  body: Uint8Array,
  contentType: string,
  shape: Shape,
  orders: AsyncIterable<Order>,
): AsyncGenerator<Told> {
  const read = await readBody(body, contentType, shape)
  if ('problem' in read) return yield read
  yield { members: read.members, files: mapped(read.files) }
  for await (const { member, module, name, args } of orders) {
    const result = await (await import(module))[name](read.files[member]?.bytes, ...args)
    yield { done: member, result }
  }
}

const mapped = (files: Readonly<Record<string, ReadFile>>): Record<string, FileFacts> =>
  Object.fromEntries(Object.entries(files).map(([name, { bytes: _, ...facts }]) => [name, facts]))

/** Reads a body with files, and tells what each file is. */
export async function readBody(body: Uint8Array, contentType: string, shape: Shape): Promise<ReadBody> {
  try {
    return await (/^multipart\//i.test(contentType)
      ? readMultipart(body, contentType, shape)
      : readJson(body, shape))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { problem: { code: error.code as ProblemCode, message: error.message } }
  }
}

async function readMultipart(
  body: Uint8Array,
  contentType: string,
  { files, json }: Shape,
): Promise<ReadBody> {
  const texts: Record<string, unknown> = Object.create(null)
  const found: Record<string, ReadFile> = Object.create(null)
  for (const [name, value] of await membersOf(body, contentType)) {
    if (typeof value !== 'string') {
      if (!files.includes(name)) throw invalid(name, 'there is no such file')
      found[name] = fileOf(value)
    } else if (files.includes(name)) throw invalid(name, 'must be a file: its part needs a file name')
    else texts[name] = json.includes(name) ? parsed(name, value) : value
  }
  inspect(texts)
  return { members: { ...texts }, files: { ...found } }
}

/** A part that is no text in the contract. One that is not JSON is left as it came: the contract says what is wrong. */
function parsed(name: string, text: string): unknown {
  try {
    return jsonOf(Buffer.from(text))
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_json') return text
    throw invalid(name, (error as Error).message)
  }
}

function fileOf({ name, type, bytes }: FilePart): ReadFile {
  const declaredType = /^[\w.+-]{1,60}\/[\w.+-]{1,60}/.exec(type)?.[0].toLowerCase() ?? null
  return { name: tidyFileName(name), declaredType, ...about(bytes) }
}

const about = (bytes: Uint8Array) => ({
  kind: kindOfFile(bytes),
  sha256: hash('sha256', bytes, 'hex'),
  size: bytes.length,
  bytes,
})

function readJson(body: Uint8Array, { files }: Shape): ReadBody {
  const { rest, texts } = withoutLongTexts(body)
  const short = texts.size > 0 ? objectOf(jsonOf(rest)) : undefined
  const isWhole = short && files.filter(name => texts.has(short[name] as string)).length === texts.size
  // A long text that is no file stays where it is.
  const value = isWhole ? short : jsonOf(body)
  const members = objectOf(value)
  if (!members) return { members: value, files: {} }
  const found: Record<string, ReadFile> = {}
  for (const name of files) {
    const text = members[name]
    if (typeof text !== 'string') continue
    const content = decoded(name, isWhole ? (texts.get(text)?.toString('latin1') ?? text) : text)
    found[name] = { name: null, declaredType: null, ...about(content) }
    delete members[name]
  }
  return { members, files: found }
}

const objectOf = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined

/** Node decodes whatever it can: what it has left out shows in the length, and the signs of the other alphabet do not. */
function decoded(name: string, text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64')
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const isWhole = text.length % 4 === 0 && bytes.length === (text.length / 4) * 3 - padding
  if (!isWhole || text.includes('-') || text.includes('_'))
    throw invalid(name, 'must be in Base64, with its padding and nothing else')
  return bytes
}
