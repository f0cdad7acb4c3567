export interface NamedAgent {
  readonly id: string
  readonly name: string
}

export interface Vocabulary {
  readonly agents: readonly NamedAgent[]
  readonly now: Date
}

export interface Period {
  readonly from: Date
  readonly to: Date
  readonly label: string
}

export type Per = 'day' | 'month' | 'payment'

export interface Slots {
  readonly agent?: NamedAgent
  readonly euros?: number
  readonly per?: Per
  readonly merchant?: string
  readonly period?: Period
  readonly count?: number
  readonly intentId?: string
}

export type ParsedIntent =
  | { readonly kind: 'request'; readonly name: string; readonly slots: Slots }
  | { readonly kind: 'unclear'; readonly question: string }
  | { readonly kind: 'unknown' }
