/** The type of a value, in the terms of JSON Schema and in words for people. */
export interface Shape {
  /** `string`, `number`, `integer`, `boolean`, `array`, `object`, `null`; empty: any. */
  readonly types: readonly string[]
  /** `instant or null` */
  readonly words: string
  readonly limits?: readonly string[]
  readonly description?: string
  readonly example?: unknown
  readonly choices?: readonly unknown[]
  readonly members?: readonly Member[]
  readonly items?: Shape
  /** The command gets the file's name, and sends its content. */
  readonly isFile?: true
  /** The values of an object with free names. */
  readonly values?: Shape
}

export interface Member extends Shape {
  readonly name: string
  readonly required?: true
}

export interface Parameter {
  readonly name: string
  readonly description: string
  readonly example: string
}

/** `json`: members. `raw`: bytes of any media type, without members. */
export interface BodyShape {
  readonly kind: 'json' | 'raw'
  readonly required: boolean
  readonly members: readonly Member[]
  readonly example?: unknown
}

export type Refusal = readonly [code: string, status: number, message: string]

export interface Command {
  readonly noun: string
  readonly verb: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly callers: readonly string[]
  readonly scope?: string
  readonly params: readonly Parameter[]
  readonly query: readonly Member[]
  readonly body?: BodyShape
  readonly takesKey?: true
  /** Sending it twice has no more effect than once, even without a key. */
  readonly isRepeatable?: true
  readonly isList?: true
  readonly status: number
  readonly media?: string
  readonly refusals: readonly Refusal[]
}

export interface Noun {
  readonly name: string
  readonly about: string
  /** `{ "authorize-card": "sandbox.authorizeCard" }` */
  readonly verbs: Readonly<Record<string, string>>
}

/** Everything that a light client knows of the service: plain JSON, derived from the contracts. */
export interface CommandTable {
  readonly version: string
  readonly nouns: Readonly<Record<string, Noun>>
  readonly eventNames: Readonly<Record<string, string>>
  readonly operations: Readonly<Record<string, Command>>
}
