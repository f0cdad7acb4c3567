import { defineEntity, p } from '@mikro-orm/core'
import { insertInto } from '../../kernel/database/bulk-sql.ts'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
import type { Euros } from '../../values/money.ts'
import type { Budget, CardControls, Counters, MandateUse, Ruling, SpendRequest } from '../rules/index.ts'

/** The JSON that is stored for a value: amounts are digits, instants are text. */
type Stored<T> = T extends bigint | Date
  ? string
  : T extends object
    ? { readonly [Name in keyof T]: Stored<T[Name]> }
    : T

const schema = defineEntity({
  ...tenantTable('StoredDecision', 'decisions', 'agentId'),
  properties: {
    ...record('decision'),
    agentId: p.text(),
    /** The type of the record that was decided about. */
    subjectType: p.text(),
    subjectId: p.text(),
    policyId: nullable.string(),
    policyVersion: p
      .integer()
      .$type<number | null>()
      .strictNullable()
      .onCreate(() => null),
    request: p.json<Stored<SpendRequest>>(),
    counters: p.json<Stored<Counters>>(),
    result: p.json<Stored<Ruling>>(),
  },
})

/** A decision with all its inputs. It never changes, and deciding again by its inputs gives the same result. */
export class StoredDecision extends schema.class {}
schema.setClass(StoredDecision)

export type DecisionRow = RowOf<StoredDecision>

export const decisionTable = tableOf(StoredDecision)

export const insertDecisions = insertInto(decisionTable)

const textOf = (amount: Euros | null): string | null => (amount === null ? null : String(amount))
const parseEuros = (text: string | null): Euros | null => (text === null ? null : BigInt(text))

const instantText = (at: Date | null): string | null => at?.toISOString() ?? null

export const storedRequest = (request: SpendRequest): Stored<SpendRequest> => ({
  ...request,
  at: request.at.toISOString(),
  amountEuros: String(request.amountEuros),
  paymentEuros: request.paymentEuros === undefined ? undefined : String(request.paymentEuros),
  policyEndsAt: instantText(request.policyEndsAt),
  budgets: request.budgets.map(budget => ({
    ...budget,
    limitEuros: String(budget.limitEuros),
    usedEuros: String(budget.usedEuros),
  })),
  approval: request.approval && { attestedAt: instantText(request.approval.attestedAt) },
  availableEuros: textOf(request.availableEuros),
  card: request.card && { ...request.card, maxTransactionEuros: textOf(request.card.maxTransactionEuros) },
  mandate: request.mandate && storedMandate(request.mandate),
})

const storedMandate = (mandate: MandateUse): Stored<MandateUse> => ({
  ...mandate,
  expiresAt: mandate.expiresAt.toISOString(),
  perTransactionEuros: textOf(mandate.perTransactionEuros),
  limits: mandate.limits.map(({ period, limitEuros, usedEuros }) => ({
    period,
    limitEuros: String(limitEuros),
    usedEuros: String(usedEuros),
  })),
})

export const storedCounters = (counters: Counters): Stored<Counters> => ({
  ...counters,
  dayEuros: String(counters.dayEuros),
  monthEuros: String(counters.monthEuros),
  lastSpendAt: instantText(counters.lastSpendAt),
})

export const storedRuling = (ruling: Ruling): Stored<Ruling> => ({
  ...ruling,
  holdEuros: String(ruling.holdEuros),
})

const parseInstant = (text: string | null): Date | null => (text === null ? null : new Date(text))

const parseBudget = (budget: Stored<Budget>): Budget => ({
  ...budget,
  limitEuros: BigInt(budget.limitEuros),
  usedEuros: BigInt(budget.usedEuros),
})

const parseControls = (stored: Stored<CardControls>): CardControls => ({
  maxTransactionEuros: parseEuros(stored.maxTransactionEuros),
  merchantAllowlist: [...stored.merchantAllowlist],
  merchantBlocklist: [...stored.merchantBlocklist],
  allowedCountries: [...stored.allowedCountries],
  allowedMccs: [...stored.allowedMccs],
  blockedMccs: [...stored.blockedMccs],
  mccCategories: [...stored.mccCategories],
})

const parseMandate = (stored: Stored<MandateUse>): MandateUse => ({
  ...stored,
  expiresAt: new Date(stored.expiresAt),
  perTransactionEuros: parseEuros(stored.perTransactionEuros),
  limits: stored.limits.map(({ period, limitEuros, usedEuros }) => ({
    period,
    limitEuros: BigInt(limitEuros),
    usedEuros: BigInt(usedEuros),
  })),
})

export const parseRequest = (stored: Stored<SpendRequest>): SpendRequest => ({
  ...stored,
  at: new Date(stored.at),
  amountEuros: BigInt(stored.amountEuros),
  paymentEuros: stored.paymentEuros === undefined ? undefined : BigInt(stored.paymentEuros),
  policyEndsAt: parseInstant(stored.policyEndsAt),
  budgets: stored.budgets.map(parseBudget),
  approval: stored.approval && { attestedAt: parseInstant(stored.approval.attestedAt) },
  availableEuros: parseEuros(stored.availableEuros),
  card: stored.card && parseControls(stored.card),
  mandate: stored.mandate && parseMandate(stored.mandate),
})

export const parseCounters = (stored: Stored<Counters>): Counters => ({
  ...stored,
  dayEuros: BigInt(stored.dayEuros),
  monthEuros: BigInt(stored.monthEuros),
  lastSpendAt: parseInstant(stored.lastSpendAt),
})
