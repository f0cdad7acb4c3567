import type { z } from 'zod'
import type { AnyOperation } from '../kernel/operation.ts'
import { Problem } from '../kernel/problem.ts'
import { inspect, invalid } from './body.ts'

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
  const { issues } = result.error
  const said = issues.slice(0, SHOWN).map(inWords).join('; ')
  const more = issues.length > SHOWN ? `; and ${issues.length - SHOWN} more` : ''
  throw new Problem('invalid_request', said + more)
}

function inWords(issue: z.core.$ZodIssue): string {
  const path = issue.path.join('.')
  if (issue.code === 'unrecognized_keys')
    return issue.keys
      .map(key => `${path ? `${path}.` : ''}${key.slice(0, 60)}: there is no such member`)
      .join('; ')
  return `${path || 'body'}: ${issue.message}`
}

/** An operation that takes nothing is given nothing. */
function none(value: unknown, where: string): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(where, 'expected an object')
  const [unknown] = Object.keys(value)
  if (unknown !== undefined) throw invalid(unknown.slice(0, 60), 'there is no such member')
  return empty
}

/** A parameter that is given twice has no meaning. */
function singles(query: URLSearchParams): Record<string, string> {
  if (query.size === 0) return empty
  const values: Record<string, string> = Object.create(null)
  for (const [name, value] of query) {
    if (name in values) throw invalid(name.slice(0, 60), 'given more than once')
    values[name] = value
  }
  inspect(values)
  return { ...values }
}
