import { defineEntity, p } from '@mikro-orm/core'
import { z } from 'zod'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { insertInto } from '../../kernel/database/bulk-sql.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { type RowOf, tableOf } from '../../kernel/database/table.ts'
import { id } from '../../values/ids.ts'
import type { JsonName } from '../../values/json-names.ts'
import { type Cents, cents } from '../../values/money.ts'
import {
  type BudgetUsage,
  type CardControls,
  type MandateLimitUsage,
  type MandateUsage,
  ruleOutcomes,
  type SpendCounters,
  type SpendRequest,
  type SpendRuling,
} from '../rules/index.ts'

const message = '€ 25.00 is within the auto-approve limit of € 50.00.'

const CheckRecord = z.object({
  rule: z.string().meta({ examples: ['autoApproveLimitEuros'] }),
  outcome: z.enum(ruleOutcomes),
  limit: z.number().nullable(),
  used: z.number().nullable(),
  remaining: z.number().nullable(),
  message: z.string().meta({ examples: [message] }),
})

const left = (what: string) =>
  z
    .number()
    .nullable()
    .meta({ description: `${what} Null: the mandate has no such limit.` })

const MandateInDecision = z.object({
  id: id('mandate'),
  name: z.string().nullable(),
  expiresAt: z.string().meta({ format: 'date-time' }),
  perTransactionEuros: left('Maximum amount per payment.'),
  dayLeftEuros: left('Amount left today.'),
  monthLeftEuros: left('Amount left this month.'),
  totalLeftEuros: left('Amount left in total.'),
  countLeft: left('Number of payments left.'),
})

export const DecisionRecord = z
  .object({
    id: id('decision'),
    allowed: z.boolean(),
    requiresApproval: z.boolean(),
    reason: z.string().meta({ examples: [message] }),
    policyId: id('policy').nullable(),
    policyVersion: z.int().nullable(),
    riskScore: z.number().nullable(),
    mandate: MandateInDecision.nullable().optional().meta({
      description:
        'The mandate that approves the intent in place of a person, with what is left after this intent. Null: no mandate does. Missing in decisions of earlier versions.',
    }),
    checks: z.array(CheckRecord),
  })
  .meta({ id: 'Decision' })

/** A value as stored JSON, with the names of JSON: amounts are the digits of their cents, instants are text. */
type Stored<T> = T extends bigint | Date
  ? string
  : T extends readonly (infer I)[]
    ? readonly Stored<I>[]
    : T extends object
      ? { readonly [Name in keyof T as JsonName<Name>]: Stored<T[Name]> }
      : T

/** An erased decision still says what was decided, and no longer why. */
export const FORGOTTEN_RULING = { members: '{"reason":"[forgotten]","checks":[],"mandate":null}' } as const

const schema = defineEntity({
  ...tenantTable('StoredDecision', 'decisions', 'agentId'),
  ...personalTable({
    keptWhile: {
      words: 'what it decided was paid, or can still be',
    },
  }),
  properties: {
    ...recordColumns('decision'),
    agentId: p.text(),
    subjectType: plain(p.text()),
    subjectId: plain(p.text().primary()),
    policyId: plain(nullable.string()),
    policyVersion: p
      .integer()
      .$type<number | null>()
      .strictNullable()
      .onCreate(() => null),
    request: personal(p.json<Stored<SpendRequest>>(), 'payment', 'payments', 'empty'),
    counters: personal(p.json<Stored<SpendCounters>>(), 'payment', 'payments', 'empty'),
    result: personal(p.json<Stored<SpendRuling>>(), 'payment', 'payments', FORGOTTEN_RULING),
  },
})

/** A decision with all its inputs. It never changes, and deciding again with the same inputs gives the same result. */
export class StoredDecision extends schema.class {}
schema.setClass(StoredDecision)

export type DecisionRow = RowOf<StoredDecision>

export const decisionTable = tableOf(StoredDecision)

export const insertDecisions = insertInto(decisionTable)

const textOf = (amount: Cents | null): string | null => (amount === null ? null : String(amount))
const parseAmount = (text: string | null): Cents | null => (text === null ? null : cents(text))

const instantText = (at: Date | null): string | null => at?.toISOString() ?? null

/** Most requests and counters have half of their members null. These are left out, and are null again once parsed. */
const withoutNulls = <T extends object>(members: T): T =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)) as T

const NULL_REQUEST = {
  payeeIban: null,
  mcc: null,
  country: null,
  policyEndsAt: null,
  intentId: null,
  possibleDuplicateOf: null,
  risk: null,
  approval: null,
  availableEuros: null,
  card: null,
  namedCard: null,
  mandate: null,
  outsideMandates: null,
  conversion: null,
} as const satisfies Partial<Stored<SpendRequest>>

const NULL_COUNTERS = { lastSpendAt: null, firstMerchant: null } as const satisfies Partial<
  Stored<SpendCounters>
>

export const encodeDecisionRequest = ({
  amountCents,
  paymentCents,
  availableCents,
  ...request
}: SpendRequest): Stored<SpendRequest> =>
  withoutNulls({
    ...request,
    at: request.at.toISOString(),
    amountEuros: String(amountCents),
    paymentEuros: paymentCents === undefined ? undefined : String(paymentCents),
    policyEndsAt: instantText(request.policyEndsAt),
    budgets: request.budgets.map(storedUse),
    approval: request.approval && { attestedAt: instantText(request.approval.attestedAt) },
    availableEuros: textOf(availableCents),
    card: request.card && storedControls(request.card),
    mandate: request.mandate && storedMandate(request.mandate),
  })

const storedUse = <T extends MandateLimitUsage | BudgetUsage>({ limitCents, usedCents, ...others }: T) => ({
  ...others,
  limitEuros: String(limitCents),
  usedEuros: String(usedCents),
})

const storedControls = ({ maxTransactionCents, ...controls }: CardControls): Stored<CardControls> => ({
  ...controls,
  maxTransactionEuros: textOf(maxTransactionCents),
})

const storedMandate = ({ perTransactionCents, ...mandate }: MandateUsage): Stored<MandateUsage> => ({
  ...mandate,
  expiresAt: mandate.expiresAt.toISOString(),
  perTransactionEuros: textOf(perTransactionCents),
  limits: mandate.limits.map(storedUse),
})

export const encodeDecisionCounters = ({
  dayCents,
  monthCents,
  ...counters
}: SpendCounters): Stored<SpendCounters> =>
  withoutNulls({
    ...counters,
    dayEuros: String(dayCents),
    monthEuros: String(monthCents),
    lastSpendAt: instantText(counters.lastSpendAt),
  })

export const encodeRuling = ({ holdCents, ...ruling }: SpendRuling): Stored<SpendRuling> => ({
  ...ruling,
  holdEuros: String(holdCents),
})

/** What a record keeps of the decision on it; the rest is read from the stored decision. */
export interface DecisionSummary {
  readonly id: string
  readonly allowed: boolean
  readonly requiresApproval: boolean
  readonly riskScore: number | null
}

export const summarizeDecision = ({
  id,
  allowed,
  requiresApproval,
  riskScore,
}: DecisionSummary): DecisionSummary => ({
  id,
  allowed,
  requiresApproval,
  riskScore,
})

/**
 * SQL for the decision on a record, whose column `decision` has its summary, or all of it: a decision of earlier versions,
 * or one that is not as it was stored. A member of the column wins, as it may have been forgotten: `checks` and `reason` of a
 * summary, too, so that they do not tell which of both it is. Behind another collation than that of `subject_id` its index
 * would not be used.
 */
export const decisionOfRecordSql = (record: string): string => `
case when ${record}.decision is null or ${record}.decision -> 'policyId' is not null then ${record}.decision
  else '{"reason": "[forgotten]", "checks": [], "mandate": null, "policyId": null, "policyVersion": null}' || coalesce((
    select d.result - 'holdEuros' || jsonb_build_object('policyId', d.policy_id, 'policyVersion', d.policy_version,
      'risk', d.request -> 'risk') from decisions d
    where (d.owner_id, d.mode, d.subject_id, d.id)
      = (${record}.owner_id, ${record}.mode, ${record}.id collate "default", ${record}.decision ->> 'id')), '{}')
    || ${record}.decision end`

const parseInstant = (text: string | null): Date | null => (text === null ? null : new Date(text))

const parseUse = <T extends Stored<MandateLimitUsage | BudgetUsage>>({
  limitEuros,
  usedEuros,
  ...others
}: T) => ({
  ...others,
  limitCents: cents(limitEuros),
  usedCents: cents(usedEuros),
})

const parseControls = (stored: Stored<CardControls>): CardControls => ({
  maxTransactionCents: parseAmount(stored.maxTransactionEuros),
  merchantAllowlist: [...stored.merchantAllowlist],
  merchantBlocklist: [...stored.merchantBlocklist],
  allowedCountries: [...stored.allowedCountries],
  allowedMccs: [...stored.allowedMccs],
  blockedMccs: [...stored.blockedMccs],
  mccCategories: [...stored.mccCategories],
})

const parseMandate = ({ perTransactionEuros, ...stored }: Stored<MandateUsage>): MandateUsage => ({
  ...stored,
  expiresAt: new Date(stored.expiresAt),
  perTransactionCents: parseAmount(perTransactionEuros),
  limits: stored.limits.map(parseUse),
})

export function decodeDecisionRequest(request: Stored<SpendRequest>): SpendRequest {
  const { amountEuros, paymentEuros, availableEuros, ...stored } = { ...NULL_REQUEST, ...request }
  return {
    ...stored,
    at: new Date(stored.at),
    amountCents: cents(amountEuros),
    paymentCents: paymentEuros === undefined ? undefined : cents(paymentEuros),
    policyEndsAt: parseInstant(stored.policyEndsAt),
    budgets: stored.budgets.map(parseUse),
    approval: stored.approval && { attestedAt: parseInstant(stored.approval.attestedAt) },
    availableCents: parseAmount(availableEuros),
    card: stored.card && parseControls(stored.card),
    mandate: stored.mandate && parseMandate(stored.mandate),
  }
}

export function decodeDecisionCounters(counters: Stored<SpendCounters>): SpendCounters {
  const { dayEuros, monthEuros, ...stored } = { ...NULL_COUNTERS, ...counters }
  return {
    ...stored,
    dayCents: cents(dayEuros),
    monthCents: cents(monthEuros),
    lastSpendAt: parseInstant(stored.lastSpendAt),
  }
}

export interface DecisionSpan {
  readonly from: Date
  readonly to: Date
  readonly agentId?: string | undefined
}

export interface RecordedDecision extends Row, Pick<DecisionRow, 'request' | 'counters'> {
  readonly id: string
  readonly agentId: string
  readonly subjectType: string
  readonly subjectId: string
  readonly at: Date
  readonly allowed: boolean
  readonly requiresApproval: boolean
  readonly reason: string
  readonly rule: string | null
  readonly mandateId: string | null
  readonly usedCents: Cents
}

/** Decisions per statement, so that it stays short, and few are in memory. */
const PAGE = 500

/** A subquery finds each reservation by its whole key. For a join, PostgreSQL might read the whole table. */
const SELECT_DECISIONS = `
select d.id, d.agent_id as "agentId", d.subject_type as "subjectType", d.subject_id as "subjectId",
  d.created_at as at, d.request, d.counters, s.allowed, s."requiresApproval", s.reason,
  case when s."requiresApproval" or not s.allowed
    then jsonb_path_query_first(d.result, '$.checks[*] ? (@.message == $.reason)') ->> 'rule' end as rule,
  d.result -> 'mandate' ->> 'id' as "mandateId",
  coalesce((select r.reserved_cents + r.spent_cents from reservations r
    where (r.owner_id, r.mode, r.cause_type, r.cause_id) = ($1, $2, d.subject_type, d.subject_id)), 0) as "usedCents"`

const KNOWN = "d.request <> '{}'"

const WITH_RESULT =
  'cross join lateral jsonb_to_record(d.result) as s (allowed boolean, "requiresApproval" boolean, reason text)'

const PAGE_OF_AGENT = `${SELECT_DECISIONS}
from decisions d ${WITH_RESULT}
where d.owner_id = $1 and d.mode = $2 and d.agent_id = $4 and ${KNOWN} and (d.created_at, d.id) > ($5, $6) and d.created_at < $3
order by d.created_at, d.id limit ${PAGE}`

/** The lateral join reads each agent's decisions by their index, and only those of the span. */
const PAGE_OF_ALL = `${SELECT_DECISIONS}
from agents a
cross join lateral (
  select * from decisions d
  where d.owner_id = $1 and d.mode = $2 and d.agent_id = a.id collate "default" and d.created_at < $3 and ${KNOWN}
    and (d.created_at, d.id) > (case when a.id = $4 then $5::timestamptz else $7 end, case when a.id = $4 then $6 else '' end)
  order by d.created_at, d.id limit ${PAGE}) as d ${WITH_RESULT}
where a.owner_id = $1 and a.mode = $2 and a.id >= $4
order by a.id, d.created_at, d.id limit ${PAGE}`

export async function* streamRecordedDecisions(
  sql: Sql,
  { ownerId, mode }: Tenant,
  { from, to, agentId }: DecisionSpan,
): AsyncGenerator<RecordedDecision[]> {
  let last = { agentId: agentId ?? '', at: from, id: '' }
  while (true) {
    const values = [ownerId, mode, to, last.agentId, last.at, last.id]
    const page = agentId
      ? await sql<RecordedDecision>(PAGE_OF_AGENT, values)
      : await sql<RecordedDecision>(PAGE_OF_ALL, [...values, from])
    yield page
    const end = page.at(-1)
    if (!end || page.length < PAGE) return
    last = end
  }
}
