import type { z } from 'zod'
import type { AnyOperation } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { jsonName, withJsonNames, withJsonNamesInPath } from '../../values/json-names.ts'
import { nearestName } from '../../values/nearest.ts'
import { INTERCHANGEABLE_TEXT_NAMES, otherTextName, TEXT_NAMES } from '../../values/text-names.ts'
import { invalidRequest, refuseUnstorable, shortenPath } from './body.ts'
import {
  BoundedMeasure,
  choicesText,
  describeSentValue,
  issuesOfForms,
  isValueMissing,
  type ValidationIssue,
  zodMessageOptions,
} from './issue-words.ts'

const SHOWN = 5

const empty = {}

export function parseInput(operation: AnyOperation, query: URLSearchParams, body: unknown) {
  return {
    query: operation.query ? parse(operation.query, singles(query)) : none(singles(query), 'query'),
    body: operation.body ? parse(operation.body, body) : none(body, 'body'),
  }
}

function parse(schema: z.ZodType, json: unknown): object {
  const given = withTextName(schema, json)
  const measure = new BoundedMeasure(SHOWN + 1)
  measure.take(schema, given)
  if (measure.issues.length > 0) throw refused(measure.issues, schema)
  const result = schema.safeParse(withJsonNames(schema, given), zodMessageOptions)
  if (result.success) return result.data as object
  throw refused(result.error.issues as ValidationIssue[], schema)
}

function refused(found: readonly ValidationIssue[], schema: z.ZodType): Problem {
  const issues = found.flatMap(issuesOfForms).map(issue => asInJson(issue, schema))
  const sentences = issues.filter(isFirstOfItsMember).flatMap(issue => sentencesOf(issue, schema))
  const more = sentences.length > SHOWN ? '; and more' : ''
  return new Problem('invalid_request', sentences.slice(0, SHOWN).join('; ') + more)
}

function asInJson(issue: ValidationIssue, schema: z.ZodType): ValidationIssue {
  const { path = [], keys } = issue
  const named = { ...issue, path: withJsonNamesInPath(schema, path) }
  return keys
    ? { ...named, keys: keys.map(key => String(withJsonNamesInPath(schema, [...path, key]).at(-1))) }
    : named
}

/** Drops the length problem of a value that also has the wrong type. */
function isFirstOfItsMember(
  { path = [], keys }: ValidationIssue,
  index: number,
  all: readonly ValidationIssue[],
): boolean {
  const member = path.join('.')
  return keys !== undefined || !all.slice(0, index).some(one => !one.keys && one.path?.join('.') === member)
}

function sentencesOf(issue: ValidationIssue, schema: z.ZodType): string[] {
  const { path = [], message = '', keys } = issue
  const at = (...more: string[]) => shortenPath([...path, ...more].join('.')) || 'body'
  if (keys) {
    const unknown = keys.slice(0, SHOWN + 1)
    return unknown.map(key => `${at(key)}: unknown field${suggestMember(key, schema, path)}`)
  }
  if (path.length > 0 && issue.input === undefined && isValueMissing(issue))
    return [`${at()}: is required${choicesText(issue)}`]
  const came = describeSentValue(issue)
  return [`${at()}: ${came ? `${message.replace(/\.$/, '')} (${came})` : message}`]
}

function none(value: unknown, where: string): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidRequest(where, `must be an object (${describeSentValue({ input: value })})`)
  const [unknown] = Object.keys(value)
  if (unknown !== undefined) throw invalidRequest(unknown, 'unknown field')
  return empty
}

function singles(query: URLSearchParams): Record<string, string> {
  if (query.size === 0) return empty
  const values: Record<string, string> = Object.create(null)
  for (const [name, value] of query) {
    // No contract has this name, and a record of free names would drop it silently.
    if (name === '__proto__') throw invalidRequest(name, 'unknown field')
    if (name in values) throw invalidRequest(name, 'given more than once')
    values[name] = value
  }
  refuseUnstorable(values)
  return { ...values }
}

type Schema = z.core.$ZodTypes

/** The free text about a decision is called `reason` or `comment`, and each operation takes both names. */
function withTextName(schema: z.ZodType, json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return json
  for (const given of INTERCHANGEABLE_TEXT_NAMES) {
    const meant = otherTextName(given) as string
    if (!Object.hasOwn(json, given) || Object.hasOwn(json, meant)) continue
    const names = membersAt(schema, [])
    if (names.includes(given) || !isTextAt(schema, meant)) continue
    const { [given]: text, ...rest } = json as Record<string, unknown>
    return { ...rest, [meant]: text }
  }
  return json
}

function isTextAt(schema: z.core.$ZodType, name?: string): boolean {
  const { def } = (schema as Schema)._zod
  if (def.type === 'object' && name !== undefined) {
    const member = def.shape[name]
    return member !== undefined && isTextAt(member)
  }
  if (def.type === 'pipe') return isTextAt(isTransform(def.in) ? def.out : def.in, name)
  if ('innerType' in def) return isTextAt(def.innerType, name)
  return def.type === 'string' && name === undefined
}

function suggestMember(name: string, schema: z.core.$ZodType, path: readonly PropertyKey[]): string {
  const names = membersAt(schema, path)
  const others = TEXT_NAMES.includes(name) ? TEXT_NAMES : []
  const meant = names.find(one => others.includes(one)) ?? nearestName(name, names)
  return meant === undefined ? '' : `, did you mean ${meant}?`
}

function membersAt(schema: z.core.$ZodType, [first, ...rest]: readonly PropertyKey[]): readonly string[] {
  const { def } = (schema as Schema)._zod
  const path = first === undefined ? [] : [first, ...rest]
  if (def.type === 'object') {
    if (first === undefined) return Object.keys(def.shape).map(jsonName)
    const member = Object.entries(def.shape).find(([name]) => jsonName(name) === first)?.[1]
    return member ? membersAt(member, rest) : []
  }
  if (def.type === 'array') return membersAt(def.element, rest)
  if (def.type === 'record') return membersAt(def.valueType, rest)
  if (def.type === 'pipe') return membersAt(isTransform(def.in) ? def.out : def.in, path)
  return 'innerType' in def ? membersAt(def.innerType, path) : []
}

const isTransform = (schema: z.core.$ZodType): boolean => (schema as Schema)._zod.def.type === 'transform'
