/** An agent as sentences call it. */
export interface NamedAgent {
  readonly id: string
  readonly name: string
}

/** What sentences are about. */
export interface World {
  readonly agents: readonly NamedAgent[]
  readonly now: Date
}

/** A span of days in UTC, with what it is called. */
export interface Period {
  readonly from: Date
  readonly to: Date
  readonly label: string
}

/** What a limit is for. */
export type Per = 'day' | 'month' | 'payment'

/** What a sentence names. */
export interface Slots {
  readonly agent?: NamedAgent
  readonly euros?: number
  readonly per?: Per
  readonly merchant?: string
  readonly period?: Period
  readonly count?: number
  readonly intentId?: string
  readonly text?: string
}

/**
 * What a sentence means: one of the things that owners ask, with what it names; a question back where it could mean several
 * things; or that nobody knows.
 */
export type Meaning =
  | { readonly kind: 'asked'; readonly name: string; readonly slots: Slots }
  | { readonly kind: 'unclear'; readonly question: string }
  | { readonly kind: 'unknown' }

/** A thing that owners ask, in the forms in which they ask it. `docs/assistants.md` lists them. */
export interface Form {
  readonly name: string
  readonly forms: readonly string[]
}
