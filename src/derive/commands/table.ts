/** What a value may be, in the words of JSON Schema, and how it is told to people. */
export interface Shape {
  /** `string`, `number`, `integer`, `boolean`, `array`, `object`, `null`; empty where it may be anything. */
  readonly types: readonly string[]
  /** `instant or null` */
  readonly words: string
  readonly limits?: readonly string[]
  readonly description?: string
  readonly example?: unknown
  readonly choices?: readonly unknown[]
  /** The members of an object. */
  readonly members?: readonly Member[]
  /** Each item of an array. */
  readonly items?: Shape
  /** A file: the command is given its name, and sends its content. */
  readonly isFile?: true
  /** Each value of an object whose names are free. */
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

/** A published operation as a command: the line of its contract that a client needs. */
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
  /** Whether it takes an `Idempotency-Key`. */
  readonly takesKey?: true
  /** Whether sending it twice has no more effect than once, even without a key. */
  readonly isRepeatable?: true
  /** Whether it gives pages of a list. */
  readonly isList?: true
  readonly status: number
  /** The media type of an answer that is not JSON. */
  readonly media?: string
  readonly refusals: readonly Refusal[]
}

export interface Noun {
  readonly name: string
  readonly about: string
  /** The keys of its operations by their verbs: `{ "authorize-card": "sandbox.authorizeCard" }`. */
  readonly verbs: Readonly<Record<string, string>>
}

/** All that a light client knows of the service: plain JSON, derived from the contracts. */
export interface CommandTable {
  readonly version: string
  readonly nouns: Readonly<Record<string, Noun>>
  /** The events that are sent, and what has happened then. */
  readonly eventNames: Readonly<Record<string, string>>
  /** By key: `intents.create`. */
  readonly operations: Readonly<Record<string, Command>>
}
