import { type Euros, inWords } from '../../kernel/money.ts'
import { type ContextOf, implement } from '../../kernel/operation.ts'
import { excerpt } from '../../kernel/schemas.ts'
import { effectivePolicy, explain, type Policy, StoredDecision, sameMerchant } from '../policies/policies.ts'
import { aboutIntent } from './events.ts'
import { inquiryApi } from './inquiry-api.ts'
import { Intent } from './intent.ts'

type Inquiring = Pick<ContextOf<typeof inquiryApi.explanation>, 'em'>

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
  message: `${inWords(actual)} were charged, ${inWords(most)} were approved at most.`,
})

const anotherMerchant = (actual: string, declared: string) => ({
  field: 'merchant' as const,
  message: `${excerpt(actual)} has charged, ${excerpt(declared)} was approved.`,
})

const summaries: Readonly<Record<string, string>> = {
  created: 'It waits for a person',
  approved: 'It is approved',
  denied: 'It was denied',
  cancelled: 'It was cancelled',
  expired: 'Its deadline has passed',
  completed: 'It has been paid',
}

function summaryOf({ status, decidedBy, comment }: Intent, reason: string): string {
  const byPerson = decidedBy !== null && decidedBy.type !== 'policy'
  const why =
    byPerson && comment ? `a person decided, and said: ${comment}` : byPerson ? 'a person decided' : reason
  return `${summaries[status]}: ${why}`
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
      ...(sameMerchant(actualMerchant, intent.merchant)
        ? []
        : [anotherMerchant(actualMerchant, intent.merchant)]),
    ]
    if (mismatches.length > 0)
      emit('verification.mismatch', {
        ...aboutIntent(intent),
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
      summary: summaryOf(intent, latest.reason),
      policy: policyId === null || version === null ? null : { policyId, version, changedSince },
      note: noteOn(first, latest, now),
      rules: explain(latest.checks),
    }
  },
})
