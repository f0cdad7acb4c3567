/** An agent as sentences call it. */
export interface NamedAgent {
  readonly id: string
  readonly name: string
}

/** What sentences can refer to. */
export interface Vocabulary {
  readonly agents: readonly NamedAgent[]
  readonly now: Date
}

/** A span of days in UTC, with its name. */
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
}

/** A request with what it names; a question back where the sentence has several readings; or a sentence beyond the grammar. */
export type ParsedIntent =
  | { readonly kind: 'request'; readonly name: string; readonly slots: Slots }
  | { readonly kind: 'unclear'; readonly question: string }
  | { readonly kind: 'unknown' }
