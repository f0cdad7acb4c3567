import type { IncomingMessage } from 'node:http'
import { Problem } from '../kernel/problem.ts'
import { readBytes } from './body-bytes.ts'

const LIMIT = 1_048_576
const DEEPEST = 32

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The body as JSON; an empty object where there is none. */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  const bytes = await readBytes(request, LIMIT)
  // A read is not asked with a body: it is waited for, and not looked at.
  if (request.method === 'GET' || request.method === 'HEAD') return {}
  if (bytes.length === 0) return {}
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(request.headers['content-type'] ?? ''))
    throw new Problem('unsupported_media_type')
  const value = parse(bytes)
  inspect(value)
  return value
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    throw new Problem('invalid_json')
  }
}

/** What no schema asks about: depth, characters that a database cannot keep, names that a program trips over. */
export function inspect(value: unknown): void {
  const open: { value: unknown; path: string; depth: number }[] = [{ value, path: '', depth: 0 }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, path, depth } = next
    if (typeof value === 'string') checkText(value, path)
    if (typeof value !== 'object' || value === null) continue
    if (depth === DEEPEST) throw invalid(path, `nested more than ${DEEPEST} levels deep`)
    for (const [name, member] of Object.entries(value)) {
      if (name === '__proto__') throw invalid(name, 'this name cannot be used')
      checkText(name, path)
      open.push({ value: member, path: path ? `${path}.${name}` : name, depth: depth + 1 })
    }
  }
}

function checkText(text: string, path: string): void {
  if (text.includes('\0')) throw invalid(path, 'the character U+0000 cannot be used')
  if (!text.isWellFormed()) throw invalid(path, 'half of a surrogate pair is not a character')
}

/** A name that the caller chose, in as many letters as an answer needs. */
export const shown = (path: string): string => (path.length > 60 ? `${path.slice(0, 59)}…` : path)

export const invalid = (path: string, message: string): Problem =>
  new Problem('invalid_request', `${shown(path) || 'body'}: ${message}`)
