import type { z } from 'zod'
import type { AnyOperation } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { inspect, invalid, shown } from './body.ts'
import { type Issue, whatCame } from './issue-words.ts'
import { Measure, told } from './maxima.ts'
import { memberMeant } from './member-meant.ts'

/** How many problems one answer lists. */
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
  const measure = new Measure(SHOWN + 1)
  measure.take(schema, value)
  if (measure.issues.length > 0) throw refused(measure.issues, schema)
  const result = schema.safeParse(value, told)
  if (result.success) return result.data as object
  throw refused(result.error.issues as Issue[], schema)
}

function refused(issues: readonly Issue[], schema: z.ZodType): Problem {
  const sentences = issues.filter(isFirstOfItsMember).flatMap(issue => sentencesOf(issue, schema))
  const more = sentences.length > SHOWN ? '; and more' : ''
  return new Problem('invalid_request', sentences.slice(0, SHOWN).join('; ') + more)
}

/** Drops the length problem of a value that has the wrong type as well. */
function isFirstOfItsMember({ path = [], keys }: Issue, index: number, all: readonly Issue[]): boolean {
  const member = path.join('.')
  return keys !== undefined || !all.slice(0, index).some(one => !one.keys && one.path?.join('.') === member)
}

/** A sentence: the member, what it must be, and what was sent. */
function sentencesOf(issue: Issue, schema: z.ZodType): string[] {
  const { path = [], message = '', keys } = issue
  const at = (...more: string[]) => shown([...path, ...more].join('.')) || 'body'
  if (keys) {
    const unknown = keys.slice(0, SHOWN + 1)
    return unknown.map(key => `${at(key)}: there is no such member${memberMeant(key, schema, path)}`)
  }
  const came = whatCame(issue)
  return [`${at()}: ${came ? `${message.replace(/\.$/, '')} (${came})` : message}`]
}

/** Refuses members for an operation that takes none. */
function none(value: unknown, where: string): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(where, `must be an object (${whatCame({ input: value })})`)
  const [unknown] = Object.keys(value)
  if (unknown !== undefined) throw invalid(unknown, 'there is no such member')
  return empty
}

/** Refuses a query parameter that is repeated. */
function singles(query: URLSearchParams): Record<string, string> {
  if (query.size === 0) return empty
  const values: Record<string, string> = Object.create(null)
  for (const [name, value] of query) {
    // No contract has it, and a record of any names would leave it out without a word.
    if (name === '__proto__') throw invalid(name, 'there is no such member')
    if (name in values) throw invalid(name, 'given more than once')
    values[name] = value
  }
  inspect(values)
  return { ...values }
}
