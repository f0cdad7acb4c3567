import { readFileSync, writeFileSync } from 'node:fs'
import type { JsonSchema } from '../../derive/openapi/types.ts'
import { writeJsonLines } from '../../derive/openapi/write.ts'
import { type ClientContract, readClientContract } from './contract.ts'
import { referencedRecord } from './names.ts'

/** The part of a schema on which callers rely. */
export interface SchemaShape {
  readonly types: readonly string[]
  readonly choices?: readonly unknown[]
  readonly record?: string
  readonly members?: Readonly<Record<string, SchemaShape>>
  readonly always?: readonly string[]
  readonly items?: SchemaShape
  readonly options?: readonly SchemaShape[]
}

interface CalledOperation {
  readonly call: string
  readonly sent?: SchemaShape
  readonly returned?: SchemaShape
}

export interface ContractBaseline {
  readonly version: string
  readonly records: Readonly<Record<string, SchemaShape>>
  readonly operations: Readonly<Record<string, CalledOperation>>
}

export function buildBaseline({ version, schemas, operations }: ClientContract): ContractBaseline {
  return {
    version,
    records: mapped(schemas, shapeOf),
    operations: Object.fromEntries(
      operations.map(({ key, method, path, answers, input, result }) => [
        key,
        {
          call: `${method} ${path} ${answers}`,
          ...(input ? { sent: shapeOf(input.schema) } : {}),
          ...(result ? { returned: shapeOf(result) } : {}),
        },
      ]),
    ),
  }
}

const mapped = <A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))

function shapeOf(schema: JsonSchema): SchemaShape {
  if (schema.$ref) return { types: ['object'], record: referencedRecord(schema.$ref) }
  const options = schema.anyOf ?? schema.oneOf
  if (options) return { types: [], options: options.map(shapeOf) }
  const choices = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  const { properties, required = [], items } = schema
  return {
    types: [schema.type ?? []].flat().toSorted(),
    ...(choices ? { choices } : {}),
    ...(properties ? { members: mapped(properties, shapeOf), always: required.toSorted() } : {}),
    ...(items ? { items: shapeOf(items) } : {}),
  }
}

export function breakingChanges(older: ContractBaseline, newer: ContractBaseline): string[] {
  const comparison = new Comparison(older, newer)
  for (const [key, { call, sent, returned }] of Object.entries(older.operations)) {
    const now = newer.operations[key]
    if (!now) comparison.say(key, 'the operation is gone')
    else if (now.call !== call) comparison.say(key, `it was ${call}, and is ${now.call}`)
    else {
      comparison.sent(`${key}: `, sent ?? NOTHING, now.sent ?? NOTHING)
      if (returned) comparison.returned(`${key} answers `, returned, now.returned ?? NOTHING)
    }
  }
  return [...new Set(comparison.breaks)]
}

const NOTHING: SchemaShape = { types: ['object'], members: {}, always: [] }

class Comparison {
  readonly breaks: string[] = []
  readonly #older: ContractBaseline
  readonly #newer: ContractBaseline
  /** Compares records once in each direction, which also ends recursion. */
  readonly #compared = new Set<string>()

  constructor(older: ContractBaseline, newer: ContractBaseline) {
    this.#older = older
    this.#newer = newer
  }

  say(place: string, what: string): void {
    this.breaks.push(`${place}: ${what}`)
  }

  /** Requests of the older contract must still be accepted. */
  sent(place: string, older: SchemaShape, newer: SchemaShape): void {
    this.#compare('sent', place, older, newer)
  }

  /** Answers must still have what the older contract had, with the same types. */
  returned(place: string, older: SchemaShape, newer: SchemaShape): void {
    this.#compare('returned', place, older, newer)
  }

  #compare(direction: 'sent' | 'returned', place: string, older: SchemaShape, newer: SchemaShape): void {
    const names = `${direction} ${older.record} ${newer.record}`
    if (older.record && newer.record) {
      if (this.#compared.has(names)) return
      this.#compared.add(names)
    }
    const was = resolved(older, this.#older)
    const is = resolved(newer, this.#newer)
    if (was.options || is.options) this.#options(place, was, is)
    else {
      this.#types(direction, place, was, is)
      this.#members(direction, place, was, is)
      if (was.items && is.items) this.#compare(direction, `${place}each `, was.items, is.items)
    }
  }

  /** Alternatives are compared as a whole, since they cannot be matched one by one. */
  #options(place: string, older: SchemaShape, newer: SchemaShape): void {
    if (JSON.stringify(older.options) !== JSON.stringify(newer.options))
      this.breaks.push(`${place}has other alternatives`)
  }

  #types(direction: 'sent' | 'returned', place: string, older: SchemaShape, newer: SchemaShape): void {
    const [wide, narrow] = direction === 'sent' ? [newer, older] : [older, newer]
    const isWithin = wide.types.length === 0 || narrow.types.every(type => accepts(wide.types, type))
    if (!isWithin || (narrow.types.length === 0 && wide.types.length > 0))
      this.breaks.push(`${place}was ${wordsOf(older.types)}, and is ${wordsOf(newer.types)}`)
    // A further value in an answer is no break: programs must expect new ones.
    const gone = (older.choices ?? []).filter(choice => !(newer.choices ?? [choice]).includes(choice))
    if (direction === 'sent' && gone.length > 0)
      this.breaks.push(
        `${place}does not take ${gone.map(choice => JSON.stringify(choice)).join(', ')} any more`,
      )
    if (direction === 'sent' && newer.choices && !older.choices)
      this.breaks.push(`${place}takes some values only`)
  }

  #members(direction: 'sent' | 'returned', place: string, older: SchemaShape, newer: SchemaShape): void {
    const was = older.members ?? {}
    const is = newer.members ?? {}
    for (const [name, shape] of Object.entries(was)) {
      const now = is[name]
      if (now) this.#compare(direction, `${place}${name} `, shape, now)
      else this.breaks.push(`${place}${name} is gone`)
    }
    const [before, after] = direction === 'sent' ? [older, newer] : [newer, older]
    const stricter = (after.always ?? []).filter(
      name => !before.always?.includes(name) && (direction === 'sent' || is[name]),
    )
    for (const name of stricter)
      this.breaks.push(
        `${place}${name} ${direction === 'sent' ? 'must not be missing now' : 'may be missing now'}`,
      )
  }
}

const resolved = (shape: SchemaShape, { records }: ContractBaseline): SchemaShape =>
  shape.record === undefined ? shape : (records[shape.record] ?? shape)

const accepts = (types: readonly string[], type: string): boolean =>
  types.includes(type) || (type === 'integer' && types.includes('number'))

const wordsOf = (types: readonly string[]): string => types.join(' or ') || 'anything'

const file = new URL('../callers.json', import.meta.url)

export const readBaseline = (): ContractBaseline => JSON.parse(readFileSync(file, 'utf8'))

/**
 * Writes the contract on which callers rely from now on. Returns breaking changes, and writes nothing then
 * unless `mayBreak`.
 */
export function writeBaseline(mayBreak: boolean): readonly string[] {
  const now = buildBaseline(readClientContract())
  const breaks = mayBreak ? [] : breakingChanges(readBaseline(), now)
  if (breaks.length === 0) writeFileSync(file, writeJsonLines({ ...now }, { records: 1, operations: 1 }))
  return breaks
}
