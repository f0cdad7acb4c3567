import { defineEntity, p } from '@mikro-orm/core'
import { insertInto } from '../../kernel/database/bulk-sql.ts'
import { maybe, record, tenantTable } from '../../kernel/database/entity.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
import {
  type Budget,
  type Counters,
  compile,
  decide,
  decodeRules,
  type Ruling,
  type SpendRequest,
} from '../rules/index.ts'

/** As it lies in the database: amounts are digits, instants are text. */
type Kept<T> = T extends bigint | Date
  ? string
  : T extends object
    ? { readonly [Name in keyof T]: Kept<T[Name]> }
    : T

const schema = defineEntity({
  ...tenantTable('StoredDecision', 'decisions', 'agentId'),
  properties: {
    ...record('decision'),
    agentId: p.text(),
    /** What it is about. */
    subjectType: p.text(),
    subjectId: p.text(),
    policyId: maybe.string(),
    policyVersion: p
      .integer()
      .$type<number | null>()
      .strictNullable()
      .onCreate(() => null),
    request: p.json<Kept<SpendRequest>>(),
    counters: p.json<Kept<Counters>>(),
    result: p.json<Kept<Ruling>>(),
  },
})

/** A decision with all that it was made by. It is never changed: asked again, it says the same. */
export class StoredDecision extends schema.class {}
schema.setClass(StoredDecision)

export type DecisionRow = RowOf<StoredDecision>

export const decisionTable = tableOf(StoredDecision)

export const insertDecisions = insertInto(decisionTable)

const textOf = (at: Date | null): string | null => at?.toISOString() ?? null

export const keptRequest = (request: SpendRequest): Kept<SpendRequest> => ({
  ...request,
  at: request.at.toISOString(),
  amountEuros: String(request.amountEuros),
  policyEndsAt: textOf(request.policyEndsAt),
  budgets: request.budgets.map(budget => ({
    ...budget,
    limitEuros: String(budget.limitEuros),
    usedEuros: String(budget.usedEuros),
  })),
  approval: request.approval && { attestedAt: textOf(request.approval.attestedAt) },
  availableEuros: request.availableEuros === null ? null : String(request.availableEuros),
})

export const keptCounters = (counters: Counters): Kept<Counters> => ({
  ...counters,
  dayEuros: String(counters.dayEuros),
  monthEuros: String(counters.monthEuros),
  lastSpendAt: textOf(counters.lastSpendAt),
})

export const keptRuling = (ruling: Ruling): Kept<Ruling> => ({
  ...ruling,
  holdEuros: String(ruling.holdEuros),
})

const instantOf = (text: string | null): Date | null => (text === null ? null : new Date(text))

const budgetOf = (budget: Kept<Budget>): Budget => ({
  ...budget,
  limitEuros: BigInt(budget.limitEuros),
  usedEuros: BigInt(budget.usedEuros),
})

export const requestOf = (stored: Kept<SpendRequest>): SpendRequest => ({
  ...stored,
  at: new Date(stored.at),
  amountEuros: BigInt(stored.amountEuros),
  policyEndsAt: instantOf(stored.policyEndsAt),
  budgets: stored.budgets.map(budgetOf),
  approval: stored.approval && { attestedAt: instantOf(stored.approval.attestedAt) },
  availableEuros: stored.availableEuros === null ? null : BigInt(stored.availableEuros),
})

export const countersOf = (stored: Kept<Counters>): Counters => ({
  ...stored,
  dayEuros: BigInt(stored.dayEuros),
  monthEuros: BigInt(stored.monthEuros),
  lastSpendAt: instantOf(stored.lastSpendAt),
})

/** Decides anew: under the rules of a version as they are kept, or under none. */
export const replay = (
  { request, counters }: Pick<DecisionRow, 'request' | 'counters'>,
  rules: Readonly<Record<string, unknown>> | null,
): Ruling => decide(compile(rules && decodeRules(rules)), requestOf(request), countersOf(counters))
