import type { z } from 'zod'
import type { AnyOperation } from '../kernel/operation.ts'
import { Problem } from '../kernel/problem.ts'
import { inspect, invalid, shown } from './body.ts'

const SHOWN = 5

const empty = {}

/** Valid input or a 400 that names each member and what is wrong with it. */
export function inputOf(operation: AnyOperation, query: URLSearchParams, body: unknown) {
  return {
    query: operation.query ? parse(operation.query, singles(query)) : none(singles(query), 'query'),
    body: operation.body ? parse(operation.body, body) : none(body, 'body'),
  }
}

function parse(schema: z.ZodType, value: unknown): object {
  const result = schema.safeParse(value)
  if (result.success) return result.data as object
  const said = result.error.issues.flatMap(inWords)
  const more = said.length > SHOWN ? `; and ${said.length - SHOWN} more` : ''
  throw new Problem('invalid_request', said.slice(0, SHOWN).join('; ') + more)
}

function inWords({ path, message, ...issue }: z.core.$ZodIssue): string[] {
  if (issue.code !== 'unrecognized_keys') return [`${shown(path.join('.')) || 'body'}: ${message}`]
  return issue.keys.map(key => `${shown([...path, key].join('.'))}: there is no such member`)
}

/** An operation that takes nothing is given nothing. */
function none(value: unknown, where: string): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(where, 'expected an object')
  const [unknown] = Object.keys(value)
  if (unknown !== undefined) throw invalid(unknown, 'there is no such member')
  return empty
}

/** A parameter that is given twice has no meaning. */
function singles(query: URLSearchParams): Record<string, string> {
  if (query.size === 0) return empty
  const values: Record<string, string> = Object.create(null)
  for (const [name, value] of query) {
    if (name in values) throw invalid(name, 'given more than once')
    values[name] = value
  }
  inspect(values)
  return { ...values }
}
