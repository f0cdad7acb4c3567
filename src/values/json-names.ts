import { z } from 'zod'

/**
 * Amounts are cents within the service and euros in JSON, and their names say so: a contract’s member `amountCents` is
 * `amountEuros` in JSON. Contracts are read and written here, so that no handler copies one into the other.
 */
export type JsonName<N> = N extends `${infer Head}Cents` ? `${Head}Euros` : N

export const jsonName = <const N extends string>(name: N): JsonName<N> =>
  (name.endsWith('Cents') ? `${name.slice(0, -'Cents'.length)}Euros` : name) as JsonName<N>

export type JsonOf<S extends z.ZodType> = InJson<z.input<S>>

type InJson<T> = unknown extends T
  ? T
  : T extends Plain
    ? T
    : T extends AsyncIterable<infer I>
      ? AsyncIterable<InJson<I>>
      : T extends readonly unknown[]
        ? { [N in keyof T]: InJson<T[N]> }
        : { [N in keyof T as JsonName<N>]: InJson<T[N]> }

type Plain = string | number | bigint | boolean | null | undefined | Date | Uint8Array

export const decodeJson = <S extends z.ZodType>(schema: S, json: unknown): z.output<S> =>
  schema.parse(withJsonNames(schema, json))

export const encodeJson = <S extends z.ZodType>(schema: S, value: z.output<S>): JsonOf<S> =>
  withJsonNames(schema, z.encode(schema, value)) as JsonOf<S>

/** The members of a schema's values with another name in JSON. */
interface Names {
  /** In both directions: from the JSON name to the inner name, and back. */
  readonly swapped: Map<string, string>
  readonly members: Map<string, Names>
  items?: Names
}

const known = new WeakMap<z.core.$ZodType, Names | null>()

/** Null if every member has one name: most schemas have no amount. */
function namesOf(schema: z.core.$ZodType): Names | null {
  const found = known.get(schema)
  if (found !== undefined) return found
  const names = addNames(schema, { swapped: new Map(), members: new Map() })
  known.set(schema, names)
  return names
}

function addNames(schema: z.core.$ZodType, names: Names): Names | null {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.type === 'object')
    for (const [name, member] of Object.entries(def.shape)) addMember(name, member, names)
  else if (def.type === 'array') addItems(def.element, names)
  else if (def.type === 'record') addItems(def.valueType, names)
  else if (def.type === 'union') for (const option of def.options) addNames(option, names)
  else if (def.type === 'pipe') addNames(def.in._zod.def.type === 'transform' ? def.out : def.in, names)
  else if ('innerType' in def) addNames(def.innerType, names)
  return names.swapped.size > 0 || names.members.size > 0 || names.items ? names : null
}

function addMember(name: string, schema: z.core.$ZodType, { swapped, members }: Names): void {
  const inJson = jsonName(name)
  if (inJson !== name) swapped.set(name, inJson).set(inJson, name)
  const inner = addNames(schema, members.get(name) ?? { swapped: new Map(), members: new Map() })
  if (inner) members.set(name, inner).set(inJson, inner)
}

function addItems(schema: z.core.$ZodType, names: Names): void {
  const items = addNames(schema, names.items ?? { swapped: new Map(), members: new Map() })
  if (items) names.items = items
}

/**
 * Swaps the two names of each amount, in either direction: done twice, it changes nothing. A name in the
 * wrong place is swapped as well, and so is unknown there.
 */
export function withJsonNames(schema: z.core.$ZodType, value: unknown): unknown {
  const names = namesOf(schema)
  return names ? swap(value, names) : value
}

function swap(value: unknown, names: Names): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { swapped, members, items } = names
  if (Array.isArray(value)) return items ? value.map(item => swap(item, items)) : value
  const other: Record<string, unknown> = {}
  for (const name of Object.keys(value)) {
    const inner = members.get(name) ?? items
    const member = (value as Readonly<Record<string, unknown>>)[name]
    const to = swapped.get(name) ?? name
    const swappedMember = inner ? swap(member, inner) : member
    if (to === '__proto__') Object.defineProperty(other, to, { value: swappedMember, enumerable: true })
    else other[to] = swappedMember
  }
  return other
}

export function withJsonNamesInPath(schema: z.core.$ZodType, path: readonly PropertyKey[]): PropertyKey[] {
  let names: Names | null | undefined = namesOf(schema)
  return path.map(step => {
    const name = names?.swapped.get(String(step)) ?? step
    names = names?.members.get(String(step)) ?? names?.items
    return name
  })
}
