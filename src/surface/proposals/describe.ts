import type { Context } from '../../kernel/contract/context.ts'
import type { Plan } from '../../kernel/contract/tool.ts'
import { clock, days } from '../../values/clock.ts'
import { excerpt } from '../../values/schemas.ts'
import type { Difference, Effect, Given } from './proposal.ts'

type Describing = Pick<Context, 'actor' | 'requestId' | 'address' | 'runId' | 'ports'>

/** More differences than a person reads. */
const MOST_CHANGES = 50

/** The record that a proposal is about, as far as the proposer may see it; and whether there is none for them. */
export async function seenBy(
  proposer: Describing,
  { record }: Pick<Plan, 'record'>,
): Promise<{ readonly before?: Given; readonly isMissing: boolean }> {
  if (!record) return { isMissing: false }
  const { body, refusal } = await proposer.ports.tools.call(proposer, record.operation, record.given, null)
  // An agent is not told of what it may not see. That it has no policy yet is no reason against giving it one.
  const isHidden = proposer.actor.type === 'agent' && refusal !== undefined
  const isMissing =
    refusal?.code !== 'no_policy_assigned' && (isHidden || /not_found$/.test(refusal?.code ?? ''))
  return { isMissing, ...(refusal ? {} : { before: body as Given }) }
}

/** What would be another one, member by member. */
export function changesOf({ given, record }: Plan, before: Given | undefined): Difference[] {
  const params = new Set(Object.keys(record?.given ?? {}))
  return Object.entries(given)
    .filter(([member]) => !params.has(member))
    .map(([member, to]) => ({ member: excerpt(member), from: inWords(before?.[member]), to: inWords(to) }))
    .filter(({ from, to }) => from !== to)
    .slice(0, MOST_CHANGES)
}

const inWords = (value: unknown): string | null =>
  value === undefined || value === null
    ? null
    : excerpt(typeof value === 'string' ? value : JSON.stringify(value))

/** The operation in words, with what the record is called. */
export function summaryOf({ target, record }: Plan, before: Given | undefined): string {
  const name = before?.name ?? before?.merchant ?? record?.id
  return name === undefined ? target.summary : `${target.summary}: ${excerpt(String(name))}`
}

/** What it would do: a payment is simulated, the rules that an agent is to have are tried on what was decided. */
export async function effectOf({ target, given }: Plan, proposer: Describing): Promise<Effect | null> {
  if (target.operation === 'intents.create') return simulated(given, proposer)
  if (target.operation === 'policies.assign') return backtested(given, proposer)
  return null
}

const SIMULATED = [
  'agentId',
  'amountEuros',
  'merchant',
  'beneficiaryId',
  'walletId',
  'requestId',
  'mcc',
  'country',
]

async function simulated(given: Given, proposer: Describing): Promise<Effect | null> {
  const asked = Object.fromEntries(
    SIMULATED.flatMap(name => (given[name] === undefined ? [] : [[name, given[name]]])),
  )
  const { body } = await proposer.ports.tools.call(proposer, 'intents.simulate', asked, null)
  const decision = body as { allowed: boolean; requiresApproval: boolean; reason: string } | undefined
  if (!decision) return null
  const { allowed, requiresApproval, reason } = decision
  const verdict = !allowed ? 'denied' : requiresApproval ? 'left to a person' : 'approved at once'
  return { source: 'simulation', sentence: excerpt(`It would be ${verdict}: ${reason}`) }
}

/** So many days of decisions are replayed. */
const REPLAYED_DAYS = 30

async function backtested(given: Given, proposer: Describing): Promise<Effect | null> {
  const to = clock.real()
  const asked = {
    id: given.policyId,
    agentId: given.agentId,
    from: new Date(to.getTime() - days(REPLAYED_DAYS)).toISOString(),
    to: to.toISOString(),
  }
  const { body } = await proposer.ports.tools.call(proposer, 'policies.backtest', asked, null)
  const found = body as Backtest | undefined
  if (!found) return null
  const { decisions, newlyDenied, newlyAllowed, newlyToPerson } = found
  return {
    source: 'backtest',
    sentence: `Of ${decisions} decisions of the last ${REPLAYED_DAYS} days it would have denied ${newlyDenied.count}, allowed ${newlyAllowed.count} and left ${newlyToPerson.count} to a person that were decided otherwise.`,
  }
}

type Count = { readonly count: number }

interface Backtest {
  readonly decisions: number
  readonly newlyDenied: Count
  readonly newlyAllowed: Count
  readonly newlyToPerson: Count
}
