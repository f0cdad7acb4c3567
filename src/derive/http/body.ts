import type { IncomingMessage } from 'node:http'
import type { AnyOperation } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { acceptsForm, wrongMediaTypeRefusal } from '../../kernel/contract/upload.ts'

/** More values than any contract needs, and few enough to parse quickly. */
const MAX_VALUES = 10_000
const DEEPEST = 32

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const isOpening = (byte: number | undefined): boolean => byte === 0x5b || byte === 0x7b
const isClosing = (byte: number | undefined): boolean => byte === 0x5d || byte === 0x7d

/**
 * Measures a JSON text before it is parsed, since a few bytes of text can make a much larger object. Counts a
 * value after every opening bracket and comma; the parser decides whether the text is JSON.
 */
function excessOf(bytes: Uint8Array): string | undefined {
  let [values, depth] = [1, 0]
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (isOpening(byte)) {
      values++
      if (++depth > DEEPEST) return `nested more than ${DEEPEST} levels deep`
    } else if (byte === COMMA) values++
    else if (isClosing(byte)) depth--
    if (values > MAX_VALUES) return `more than ${MAX_VALUES.toLocaleString('en')} values`
  }
  return undefined
}

function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

const charset = String.raw`\s*(;\s*charset="?utf-8"?\s*)?$`
export const JSON_TYPE = new RegExp(`^application/json${charset}`, 'i')
const FORM_TYPE = new RegExp(`^application/x-www-form-urlencoded${charset}`, 'i')

export function parseRequestContent(
  { method, headers }: IncomingMessage,
  bytes: Buffer,
  operation: AnyOperation,
): unknown {
  // A GET has no body by contract. A body that is sent is read and ignored.
  if (method === 'GET' || method === 'HEAD') return {}
  if (bytes.length === 0) return {}
  const type = headers['content-type'] ?? ''
  if (acceptsForm(operation) && FORM_TYPE.test(type)) return formOf(bytes)
  if (JSON_TYPE.test(type)) return parseBoundedJson(bytes)
  throw new Problem('unsupported_media_type', wrongMediaTypeRefusal(operation)[1])
}

export function parseBoundedJson(bytes: Uint8Array): unknown {
  const excess = excessOf(bytes)
  if (excess) throw invalidRequest('', excess)
  const value = parse(bytes)
  refuseUnstorable(value)
  return value
}

/** More members than any contract has. */
const MAX_FIELDS = 100

/** Reads each name once. An empty text counts as left out (RFC 6749). */
function formOf(bytes: Uint8Array): unknown {
  const fields = decodedText(bytes).split('&', MAX_FIELDS + 1)
  if (fields.length > MAX_FIELDS) throw invalidRequest('', `more than ${MAX_FIELDS} fields`)
  const members: Record<string, string> = Object.create(null)
  for (const field of fields.filter(text => text !== '')) {
    const [name = '', value] = fieldOf(field)
    if (name in members) throw invalidRequest(name, 'given more than once')
    if (value) members[name] = value
  }
  refuseUnstorable(members)
  return { ...members }
}

function fieldOf(field: string): string[] {
  const end = field.indexOf('=')
  const parts = end === -1 ? [field] : [field.slice(0, end), field.slice(end + 1)]
  try {
    return parts.map(part => decodeURIComponent(part.replaceAll('+', ' ')))
  } catch {
    throw notForm()
  }
}

function decodedText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw notForm()
  }
}

const notForm = (): Problem => invalidRequest('', 'is no valid form in UTF-8')

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    throw new Problem('invalid_json')
  }
}

/** Checks what no schema does: characters that PostgreSQL cannot store, and names such as `__proto__`. */
export function refuseUnstorable(value: unknown): void {
  const open: { value: unknown; path: string }[] = [{ value, path: '' }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, path } = next
    if (typeof value === 'string') checkText(value, path)
    if (typeof value !== 'object' || value === null) continue
    for (const [name, member] of Object.entries(value)) {
      if (name === '__proto__') throw invalidRequest(name, 'this name cannot be used')
      checkText(name, path)
      open.push({ value: member, path: path ? `${path}.${name}` : name })
    }
  }
}

function checkText(text: string, path: string): void {
  if (text.includes('\0')) throw invalidRequest(path, 'the character U+0000 cannot be used')
  if (!text.isWellFormed()) throw invalidRequest(path, 'half of a surrogate pair is not a character')
}

export const shortenPath = (path: string): string => (path.length > 60 ? `${path.slice(0, 59)}…` : path)

export const invalidRequest = (path: string, message: string): Problem =>
  new Problem('invalid_request', `${shortenPath(path) || 'body'}: ${message}`)
