export interface NamedAgent {
  readonly id: string
  readonly name: string
}

export interface Vocabulary {
  readonly agents: readonly NamedAgent[]
  readonly now: Date
}

export interface ParsedPeriod {
  readonly from: Date
  readonly to: Date
  readonly label: string
}

export type LimitPeriod = 'day' | 'month' | 'payment'

export interface IntentSlots {
  readonly agent?: NamedAgent
  readonly euros?: number
  readonly per?: LimitPeriod
  readonly merchant?: string
  readonly period?: ParsedPeriod
  readonly count?: number
  readonly intentId?: string
}

export type ParsedIntent =
  | { readonly kind: 'request'; readonly name: string; readonly slots: IntentSlots }
  | { readonly kind: 'unclear'; readonly question: string }
  | { readonly kind: 'unknown' }
