import { defineEntity, p } from '@mikro-orm/core'
import { newId } from '../../kernel/ids.ts'
import { machine } from '../../kernel/machine.ts'
import { type Euros, inWords } from '../../kernel/money.ts'
import { maybe, record, tenantTable, timestamp } from '../../kernel/record.ts'
import { shortOf } from '../../money/ledger/ledger.ts'

export const intentMachine = machine('intent', {
  created: ['approved', 'denied', 'cancelled', 'expired'],
  approved: ['completed', 'cancelled', 'expired'],
  denied: [],
  cancelled: [],
  expired: [],
  completed: [],
})

export const deciders = ['policy', 'key', 'console', 'operator', 'mandate'] as const

/** Who decided; a name that an operator gave is not proved by anything. */
export interface DecidedBy {
  type: (typeof deciders)[number]
  id: string | null
  name: string | null
}

export interface Check {
  rule: string
  outcome: 'pass' | 'fail' | 'review' | 'skip'
  limit: number | null
  used: number | null
  remaining: number | null
  message: string
}

export interface Decision {
  id: string
  allowed: boolean
  requiresApproval: boolean
  reason: string
  policyId: string | null
  policyVersion: number | null
  riskScore: number | null
  checks: Check[]
}

const schema = defineEntity({
  ...tenantTable('Intent', 'intents', 'agentId'),
  properties: {
    ...record('intent'),
    agentId: p.text(),
    status: p.enum(intentMachine.states).onCreate(() => intentMachine.initial),
    amountEuros: p.bigint().name('amount_cents'),
    currency: p.enum(['EUR'] as const).onCreate(() => 'EUR' as const),
    merchant: p.text(),
    mcc: maybe.string(),
    country: maybe.string(),
    purpose: p.text(),
    beneficiaryId: maybe.string(),
    walletId: maybe.string(),
    cardId: maybe.string(),
    runId: maybe.string(),
    delegationId: maybe.string(),
    clientIntentId: maybe.string(),
    possibleDuplicateOf: maybe.string(),
    expiresAt: timestamp(),
    decidedAt: maybe.instant(),
    decidedBy: p
      .json<DecidedBy | null>()
      .strictNullable()
      .onCreate(() => null),
    comment: maybe.string(),
    decision: p.json<Decision>(),
    transactionId: maybe.string(),
    workflowId: maybe.string(),
    metadata: p.json<Record<string, string>>().onCreate(() => ({})),
  },
})

export class Intent extends schema.class {}
schema.setClass(Intent)

/** What is asked of a policy when an intent is declared. */
export interface Ruling {
  readonly policyId: string | null
  readonly policyVersion: number | null
  readonly autoApproveLimitEuros: Euros | null
  readonly requireAttestation: boolean
  readonly amountTolerancePercent: number | null
}

/** What is kept for an intent: its amount, and by how much the actual one may exceed it. */
export function holdFor(amount: Euros, tolerancePercent: number | null): Euros {
  const tolerance = BigInt(Math.round((tolerancePercent ?? 0) * 100))
  return amount + (amount * tolerance + 9_999n) / 10_000n
}

/** For what the ledger keeps it. */
export const heldFor = ({ id }: { readonly id: string }) => ({ type: 'intent', id })

const decimal = (amount: Euros): number => Number(amount) / 100

/**
 * At or below the limit no person is asked; without a limit, or where a passkey must say so, always one. What nobody is
 * asked about must be affordable.
 */
export function decide(ruling: Ruling, amount: Euros, available: Euros): Decision {
  const limit = ruling.autoApproveLimitEuros
  const alone = limit !== null && amount <= limit && !ruling.requireAttestation
  const message = reasonFor(ruling, amount)
  const figures = ruling.requireAttestation
    ? { rule: 'requireAttestation', limit: null, used: null, remaining: null }
    : { rule: 'autoApproveLimitEuros', ...figuresOf(limit, amount) }
  const first: Check = { ...figures, outcome: alone ? 'pass' : 'review', message }
  const short = alone ? shortage(holdFor(amount, ruling.amountTolerancePercent), available) : undefined
  return {
    id: newId('decision'),
    allowed: !short,
    requiresApproval: !alone,
    reason: short?.message ?? message,
    policyId: ruling.policyId,
    policyVersion: ruling.policyVersion,
    riskScore: null,
    checks: short ? [first, short] : [first],
  }
}

function shortage(needed: Euros, available: Euros): Check | undefined {
  if (needed <= available) return undefined
  const figures = { limit: decimal(available), used: decimal(needed), remaining: 0 }
  return { rule: 'insufficient_funds', ...figures, outcome: 'fail', message: shortOf(needed, available) }
}

function figuresOf(limit: Euros | null, amount: Euros): Pick<Check, 'limit' | 'used' | 'remaining'> {
  const used = decimal(amount)
  if (limit === null) return { limit, used, remaining: null }
  return { limit: decimal(limit), used, remaining: amount < limit ? decimal(limit - amount) : 0 }
}

function reasonFor(
  { policyId, autoApproveLimitEuros: limit, requireAttestation }: Ruling,
  amount: Euros,
): string {
  if (!policyId) return 'The agent has no policy: a person approves every intent.'
  if (requireAttestation) return 'The policy asks for a passkey: a person approves every intent.'
  if (limit === null) return 'The policy approves nothing by itself: a person approves every intent.'
  const side = amount <= limit ? 'is within' : 'is above'
  return `${inWords(amount)} ${side} the limit of ${inWords(limit)} up to which no person is asked.`
}
