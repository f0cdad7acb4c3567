import { placeOfRoundedNumber } from '../../values/whole-numbers.ts'
import { type CommandIo, usageError } from '../io.ts'
import { NamedFile, readInput, readNamedFile } from './files.ts'
import { setMember } from './members.ts'

/** The content that `--body` names: `-` is standard input, `@file` a file, anything else the content itself. */
export async function readContent(text: string, io: CommandIo): Promise<Buffer> {
  if (text === '-') return readInput(io)
  return text.startsWith('@') ? readNamedFile(text.slice(1), io) : Buffer.from(text)
}

export async function assembleBody(
  whole: string | undefined,
  members: Readonly<Record<string, unknown>> | undefined,
  io: CommandIo,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const body = whole === undefined ? members : await wholeBody(whole, members, io)
  const place = placeOfRoundedNumber(body)
  if (place) throw usageError(`${place.join('.')} has too many digits. Write at most 15, or a string.`)
  return body
}

async function wholeBody(
  whole: string,
  members: Readonly<Record<string, unknown>> | undefined,
  io: CommandIo,
) {
  const body = parsed((await readContent(whole, io)).toString('utf8'))
  for (const [name, value] of Object.entries(members ?? {}))
    setMember(body, [name], mergedInto(body[name], value))
  return body
}

function parsed(text: string): Record<string, unknown> {
  const value = jsonIn(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageError('--body is not a JSON object. Write one such as {"name":"Reader"}.')
  return value as Record<string, unknown>
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw usageError(`--body is not valid JSON: ${(error as Error).message}`)
  }
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NamedFile)

function mergedInto(before: unknown, value: unknown): unknown {
  if (!isPlain(before) || !isPlain(value)) return value
  const joined = { ...before }
  for (const [name, inner] of Object.entries(value))
    setMember(joined, [name], mergedInto(before[name], inner))
  return joined
}
