export interface ValueShape {
  /** JSON Schema types: `string`, `number`, `integer`, `boolean`, `array`, `object`, `null`. Empty means any. */
  readonly types: readonly string[]
  /** The type as people read it: `instant or null`. */
  readonly words: string
  /** The prefix of its ids: `wallet` of `wallet_…`. */
  readonly idOf?: string
  readonly limits?: readonly string[]
  readonly description?: string
  readonly example?: unknown
  readonly choices?: readonly unknown[]
  /** Other words for the choices. */
  readonly synonyms?: Readonly<Record<string, string>>
  readonly members?: readonly BodyMember[]
  readonly items?: ValueShape
  /** The command takes the name of the file, and sends its content. */
  readonly isFile?: true
  readonly values?: ValueShape
}

export interface BodyMember extends ValueShape {
  readonly name: string
  readonly required?: true
}

export interface CommandParameter {
  readonly name: string
  readonly description: string
  readonly example: string
}

export interface BodyShape {
  readonly kind: 'json' | 'raw'
  readonly required: boolean
  readonly members: readonly BodyMember[]
  readonly example?: unknown
}

export type CommandRefusal = readonly [code: string, status: number, message: string]

export interface CommandDefinition {
  readonly noun: string
  readonly verb: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly callers: readonly string[]
  readonly scope?: string
  readonly params: readonly CommandParameter[]
  readonly query: readonly BodyMember[]
  readonly body?: BodyShape
  readonly takesKey?: true
  /** With `Prefer: respond-async` it answers at once, and goes on. */
  readonly mayGoOn?: true
  /** A request sent twice has the same effect as one, even without a key. */
  readonly isRepeatable?: true
  readonly isList?: true
  readonly status: number
  readonly media?: string
  /** What the lines of its answer as CSV are, where it has one. */
  readonly csv?: string
  readonly refusals: readonly CommandRefusal[]
}

export interface CommandNoun {
  readonly name: string
  readonly about: string
  readonly verbs: Readonly<Record<string, string>>
}

/** All that a light client knows of the service. It is plain JSON, derived from the contracts. */
export interface CommandTable {
  readonly version: string
  readonly nouns: Readonly<Record<string, CommandNoun>>
  readonly eventNames: Readonly<Record<string, string>>
  readonly operations: Readonly<Record<string, CommandDefinition>>
}

/** The members that take an id without their option, since an id says what it is of. Required ones come first. */
export function idMembers({ query, body }: CommandDefinition): BodyMember[] {
  const ids = [...query, ...(body?.members ?? [])].filter(
    ({ types, idOf }) => types[0] === 'string' && idOf !== undefined,
  )
  return [...ids.filter(({ required }) => required), ...ids.filter(({ required }) => !required)]
}
