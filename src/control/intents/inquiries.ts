import { type ContextOf, implement } from '../../kernel/contract/operation.ts'
import { type Euros, formatEuros } from '../../values/money.ts'
import { excerpt } from '../../values/schemas.ts'
import { StoredDecision } from '../decisions/index.ts'
import { isSameMerchant } from '../merchants/index.ts'
import { effectivePolicy, type Policy } from '../policies/index.ts'
import { explain } from '../rules/index.ts'
import { intentEvent } from './events.ts'
import { inquiryApi } from './inquiry-api.ts'
import { Intent, type intentMachine } from './intent.ts'
import { paymentsOf, wordsOn } from './response.ts'

type Inquiring = Pick<ContextOf<typeof inquiryApi.explanation>, 'em' | 'sql' | 'tenant' | 'ports'>

type Told = Pick<Intent['decision'], 'id' | 'policyId' | 'policyVersion' | 'reason' | 'checks'> & { at: Date }

/** All that has been decided about an intent, the first one first: what persons asked for in vain, too. */
async function decisionsOn(intent: Intent, { em }: Inquiring): Promise<[Told, ...Told[]]> {
  const where = { subjectId: intent.id, subjectType: 'intent' }
  const stored = await em.find(StoredDecision, where, { orderBy: { id: 'asc' } })
  const told = stored.map(({ id, createdAt: at, policyId, policyVersion, result: { reason, checks } }) => ({
    ...{ id, at, policyId, policyVersion, reason },
    checks: [...checks],
  }))
  const [first = { ...intent.decision, at: intent.createdAt }, ...others] = told
  return [first, ...others]
}

const chargedTooMuch = (actual: Euros, most: Euros) => ({
  field: 'amount' as const,
  message: `${formatEuros(actual)} were charged, ${formatEuros(most)} were approved at most.`,
})

const anotherMerchant = (actual: string, declared: string) => ({
  field: 'merchant' as const,
  message: `${excerpt(actual)} has charged, ${excerpt(declared)} was approved.`,
})

type State = (typeof intentMachine.states)[number]

/** How it stands, and why somebody or the policy has let it come so far. */
const summaries: Readonly<Record<State, (intent: Intent, why: string) => string>> = {
  created: (_, why) => `It waits for a person: ${why}`,
  approved: (_, why) => `It is approved: ${why}`,
  denied: (_, why) => `It was denied: ${why}`,
  completed: (_, why) => `It has been paid: ${why}`,
  cancelled: ({ comment }) =>
    comment ? `It was cancelled. What was said last: ${comment}` : 'It was cancelled.',
  expired: ({ decidedBy }, why) =>
    decidedBy
      ? 'Its deadline has passed: it was approved, and not paid in time.'
      : `Its deadline has passed, and nobody had decided: ${why}`,
}

function summaryOf(intent: Intent, reason: string): string {
  const { decidedBy, comment } = intent
  const status: State = intent.status
  const isPersons = decidedBy !== null && decidedBy.type !== 'policy'
  const said = comment ? `a person decided, and said: ${comment}` : 'a person decided'
  return summaries[status](intent, isPersons ? said : reason)
}

/** The same, and what there is to say of its latest payment. */
async function summaryWithPayment(intent: Intent, reason: string, context: Inquiring): Promise<string> {
  const [latest] = await paymentsOf([intent], context)
  return [summaryOf(intent, reason), (latest && wordsOn(latest)) || []].flat().join(' ')
}

/** What has become of the policy between the first decision, the latest one and now. */
function noteOn(first: Told, latest: Told, now: Policy | null): string | null {
  const was = latest.policyVersion
  const notes = [
    first.policyVersion !== was || first.policyId !== latest.policyId
      ? `It was declared under ${named(first.policyVersion)} and decided anew under ${named(was)}: the newer one counts.`
      : '',
    isOther(latest, now)
      ? `The policy has changed since then, from ${named(was)} to ${named(now?.version ?? null)}: asked today, the answer may be another one.`
      : '',
  ].filter(Boolean)
  return notes.join(' ') || null
}

const named = (version: number | null): string => (version === null ? 'no policy' : `version ${version}`)

const isOther = ({ policyId, policyVersion }: Told, now: Policy | null): boolean =>
  policyId !== (now?.id ?? null) || policyVersion !== (now?.version ?? null)

export const inquiries = implement(inquiryApi, {
  async verify({ params, body }, { em, emit, refuse }) {
    const intent = await em.findOne(Intent, { id: params.id })
    if (!intent) return refuse('intent_not_found')
    if (intent.status !== 'approved' && intent.status !== 'completed') return refuse('intent_not_approved')
    const { actualAmountEuros, actualMerchant } = body
    const decision = await em.findOne(StoredDecision, { id: intent.decision.id })
    const most = decision ? BigInt(decision.result.holdEuros) : intent.amountEuros
    const mismatches = [
      ...(actualAmountEuros > most ? [chargedTooMuch(actualAmountEuros, most)] : []),
      ...(isSameMerchant(intent.merchant, actualMerchant)
        ? []
        : [anotherMerchant(actualMerchant, intent.merchant)]),
    ]
    if (mismatches.length > 0)
      emit('verification.mismatch', {
        ...intentEvent(intent),
        actualAmountEuros,
        actualMerchant: excerpt(actualMerchant),
        mismatches: mismatches.map(({ field }) => field),
      })
    return { verified: mismatches.length === 0, mismatches }
  },

  async explanation({ params }, context) {
    const { em, refuse } = context
    const intent = await em.findOne(Intent, { id: params.id })
    if (!intent) return refuse('intent_not_found')
    const [first, ...others] = await decisionsOn(intent, context)
    const latest = others.at(-1) ?? first
    const { policyId, policyVersion: version } = latest
    const now = await effectivePolicy(em, intent.agentId)
    const changedSince = isOther(latest, now)
    return {
      intentId: intent.id,
      decisionId: latest.id,
      decidedAt: latest.at,
      summary: await summaryWithPayment(intent, latest.reason, context),
      policy: policyId === null || version === null ? null : { policyId, version, changedSince },
      note: noteOn(first, latest, now),
      rules: explain(latest.checks, intent.decidedAt === null),
    }
  },
})
