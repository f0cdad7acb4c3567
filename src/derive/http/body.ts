import type { IncomingMessage } from 'node:http'
import { Problem } from '../../kernel/contract/problem.ts'
import { excessOf } from './json-limits.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The JSON of a body; an empty object where there is none. */
export function contentOf(request: IncomingMessage, bytes: Buffer): unknown {
  // A GET has no body by contract: one that is sent is read and ignored.
  if (request.method === 'GET' || request.method === 'HEAD') return {}
  if (bytes.length === 0) return {}
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(request.headers['content-type'] ?? ''))
    throw new Problem('unsupported_media_type')
  const excess = excessOf(bytes)
  if (excess) throw invalid('', excess)
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

/** Checks that no schema makes: characters that PostgreSQL cannot store, and names such as `__proto__`. */
export function inspect(value: unknown): void {
  const open: { value: unknown; path: string }[] = [{ value, path: '' }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, path } = next
    if (typeof value === 'string') checkText(value, path)
    if (typeof value !== 'object' || value === null) continue
    for (const [name, member] of Object.entries(value)) {
      if (name === '__proto__') throw invalid(name, 'this name cannot be used')
      checkText(name, path)
      open.push({ value: member, path: path ? `${path}.${name}` : name })
    }
  }
}

function checkText(text: string, path: string): void {
  if (text.includes('\0')) throw invalid(path, 'the character U+0000 cannot be used')
  if (!text.isWellFormed()) throw invalid(path, 'half of a surrogate pair is not a character')
}

/** Shortens a name that the caller chose. */
export const shown = (path: string): string => (path.length > 60 ? `${path.slice(0, 59)}…` : path)

export const invalid = (path: string, message: string): Problem =>
  new Problem('invalid_request', `${shown(path) || 'body'}: ${message}`)
