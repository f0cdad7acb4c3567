import { memoizeByWeight } from '../../values/bounded-cache.ts'
import { type Cents, cents } from '../../values/money.ts'
import { type BudgetCounters, countersReader } from '../budgets/index.ts'
import { type MandateUsage, mandateLabel } from '../rules/index.ts'
import {
  type CompiledMandateConstraints,
  compileMandateConstraints,
  type MandateCounters,
  type MandatedSpend,
  mandateUsageFigures,
  outsideMandateReason,
} from './constraints.ts'
import type { Mandate } from './mandate.ts'

interface StoredTerms {
  readonly agentId: string
  readonly personId: string
  readonly name: string | null
  readonly status: Mandate['status']
  readonly expiresAt: string
  readonly perTransactionCents: string | null
  readonly perDayCents: string | null
  readonly perMonthCents: string | null
  readonly totalCents: string | null
  readonly count: number | null
  readonly merchants: string[]
  readonly mccs: string[]
  readonly countries: string[]
  readonly forAssistant: boolean
}

/** A mandate whose counters are open. Its agent is locked, so it does not change until the transaction ends. */
export interface LoadedMandate {
  readonly id: string
  readonly agentId: string
  readonly personId: string
  readonly name: string | null
  readonly status: Mandate['status']
  readonly expiresAt: Date
  readonly forAssistant: boolean
  readonly constraints: CompiledMandateConstraints
}

/** Also reads the counters of the active mandates of these agents. */
export const readCountersOfAgents = countersReader(`
select m.id from mandates m
where m.owner_id = $1 and m.mode = $2 and m.agent_id = any($5::text[]) and m.status = 'active'`)

/** Bounds the cache by the list entries of all cached mandates. */
const MAX_CACHED_ENTRIES = 50_000
const BASE_ENTRIES = 10

/** The constraints of a mandate never change, so they are compiled once. */
const compiled = memoizeByWeight(
  MAX_CACHED_ENTRIES,
  ({ merchants, mccs, countries }: CompiledMandateConstraints) =>
    BASE_ENTRIES + merchants.length + mccs.length + countries.length,
)

const amountOf = (text: string | null): Cents | null => (text === null ? null : cents(text))

function readTerms(id: string, terms: StoredTerms): LoadedMandate {
  const { agentId, personId, name, status, expiresAt, count, merchants, mccs, countries } = terms
  const constraints = compiled(id, () =>
    compileMandateConstraints({
      perTransactionCents: amountOf(terms.perTransactionCents),
      perDayCents: amountOf(terms.perDayCents),
      perMonthCents: amountOf(terms.perMonthCents),
      totalCents: amountOf(terms.totalCents),
      count,
      merchants,
      mccs,
      countries,
    }),
  )
  return {
    id,
    agentId,
    personId,
    name,
    status,
    expiresAt: new Date(expiresAt),
    forAssistant: terms.forAssistant,
    constraints,
  }
}

export const loadedMandates = (counters: BudgetCounters): LoadedMandate[] =>
  counters
    .mandates()
    .map(({ id, terms }) => readTerms(id, terms as StoredTerms))
    .sort((one, other) => one.expiresAt.getTime() - other.expiresAt.getTime() || (one.id < other.id ? -1 : 1))

export function findLoadedMandate(id: string, counters: BudgetCounters): LoadedMandate | undefined {
  const found = counters.mandates().find(mandate => mandate.id === id)
  return found && readTerms(id, found.terms as StoredTerms)
}

export function mandateCounters(id: string, counters: BudgetCounters): MandateCounters {
  const { dayCents, monthCents, uses } = counters.snapshotOf(id, null)
  return { dayCents, monthCents, totalCents: counters.totalUsed(id), uses }
}

export interface MandateResult {
  readonly mandate: MandateUsage | null
  readonly outsideMandates: string | null
}

const NO_MANDATE: MandateResult = { mandate: null, outsideMandates: null }

const useOf = ({ id, name, expiresAt, constraints }: LoadedMandate, used: MandateCounters): MandateUsage => ({
  id,
  name,
  expiresAt,
  ...mandateUsageFigures(constraints, used),
})

export class AgentMandates {
  readonly #byAgent: ReadonlyMap<string, LoadedMandate[]>
  readonly #counters: BudgetCounters

  constructor(counters: BudgetCounters) {
    const active = loadedMandates(counters).filter(({ status }) => status === 'active')
    this.#byAgent = Map.groupBy(active, ({ agentId }) => agentId)
    this.#counters = counters
  }

  /**
   * The covering mandate that ends first. Otherwise the result says why no mandate covers the spend. With `own`, only
   * the mandate of this id counts, and none if it is null. Without it, those of assistants do not count.
   */
  covering(agentId: string, spend: MandatedSpend, now: Date, own?: string | null): MandateResult {
    const standing = (this.#byAgent.get(agentId) ?? []).filter(
      ({ id, expiresAt, forAssistant }) =>
        expiresAt > now && (own === undefined ? !forAssistant : id === own),
    )
    if (standing.length === 0) return NO_MANDATE
    const reasons: string[] = []
    for (const mandate of standing) {
      const used = mandateCounters(mandate.id, this.#counters)
      const reason = outsideMandateReason(mandate.constraints, spend, used)
      if (reason === undefined) return { mandate: useOf(mandate, used), outsideMandates: null }
      reasons.push(`${mandateLabel(mandate)} ${reason}.`)
    }
    return { mandate: null, outsideMandates: inShort(reasons) }
  }
}

const NAMED = 3

const inShort = (reasons: readonly string[]): string => {
  const more = reasons.length - NAMED
  const rest = more > 0 ? [`${more} more ${more === 1 ? 'does' : 'do'} not allow it either.`] : []
  return [...reasons.slice(0, NAMED), ...rest].join(' ')
}
