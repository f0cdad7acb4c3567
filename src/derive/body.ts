import express, { type Request, type Response } from 'express'
import { inKiB } from '../kernel/operation.ts'
import { Problem, type ProblemCode } from '../kernel/problem.ts'
import { excessOf } from './json-limits.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Reads the bytes of a body, for each limit that a contract has. */
const readers = new Map<number, ReturnType<typeof express.raw>>()

function readerOf(limit: number): ReturnType<typeof express.raw> {
  const reader = readers.get(limit) ?? express.raw({ limit, inflate: false, type: () => true })
  readers.set(limit, reader)
  return reader
}

const readFailures: Readonly<Record<string, ProblemCode>> = {
  'entity.too.large': 'body_too_large',
  'encoding.unsupported': 'unsupported_media_type',
}

/** The body as JSON, of so many bytes at most; an empty object where there is none. */
export async function readBody(request: Request, response: Response, limit: number): Promise<unknown> {
  const bytes = await bytesOf(request, response, limit)
  if (bytes.length === 0) return {}
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(request.headers['content-type'] ?? ''))
    throw new Problem('unsupported_media_type')
  const excess = excessOf(bytes)
  if (excess) throw invalid('', excess)
  const value = parse(bytes)
  inspect(value)
  return value
}

function bytesOf(request: Request, response: Response, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    readerOf(limit)(request, response, (failure?: { type?: string }) => {
      if (!failure) resolve(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0))
      else reject(problemOf(readFailures[failure.type ?? ''] ?? 'invalid_json', limit))
    })
  })
}

const problemOf = (code: ProblemCode, limit: number): Problem =>
  code === 'body_too_large'
    ? new Problem(code, `The body is larger than ${inKiB(limit)}, the most that this operation takes.`)
    : new Problem(code)

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    throw new Problem('invalid_json')
  }
}

/** What no schema asks about: characters that a database cannot keep, names that a program trips over. */
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

/** A name that the caller chose, in as many letters as an answer needs. */
export const shown = (path: string): string => (path.length > 60 ? `${path.slice(0, 59)}…` : path)

export const invalid = (path: string, message: string): Problem =>
  new Problem('invalid_request', `${shown(path) || 'body'}: ${message}`)
