import { bindHandlers, type ContextOf } from '../../kernel/contract/operation.ts'
import { mayUseRecord } from '../../kernel/database/entity.ts'
import { cents, formatMoney } from '../../values/money.ts'
import { truncateText } from '../../values/schemas.ts'
import { CardTerms } from '../card-terms/index.ts'
import { StoredDecision } from '../decisions/index.ts'
import { isSameMerchant } from '../merchants/index.ts'
import { effectivePolicy, type Policy } from '../policies/index.ts'
import { explainChecks, unusableCardMessage } from '../rules/index.ts'
import { intentInquiryApi } from './inquiry-api.ts'
import { Intent, type intentMachine } from './intent.ts'
import { intentEvent, intentPaymentSentence, paymentsOfIntents } from './response.ts'

type PastDecision = Pick<Intent['decision'], 'id' | 'policyId' | 'policyVersion' | 'reason' | 'checks'> & {
  readonly at: Date
}

async function decisionsOn(
  intent: Intent,
  { em }: ContextOf<typeof intentInquiryApi.explanation>,
): Promise<readonly [PastDecision, ...PastDecision[]]> {
  const where = { subjectId: intent.id, subjectType: 'intent' }
  const stored = await em.find(StoredDecision, where, { orderBy: { id: 'asc' } })
  const decisions = stored.map(({ id, createdAt, policyId, policyVersion, result }) => ({
    id,
    at: createdAt,
    policyId,
    policyVersion,
    reason: result.reason,
    checks: [...result.checks],
  }))
  const [first = { ...intent.decision, at: intent.createdAt }, ...others] = decisions
  return [first, ...others]
}

async function cardSentence(
  { status, cardId }: Intent,
  { em }: ContextOf<typeof intentInquiryApi.explanation>,
): Promise<string | undefined> {
  const isOpen = status === 'created' || status === 'approved'
  const card = isOpen && cardId ? await em.findOne(CardTerms, { id: cardId }) : null
  return card ? unusableCardMessage(card) : undefined
}

type IntentStatus = (typeof intentMachine.states)[number]

/**
 * The intent cannot be approved before there is enough money. The message states the available amount at the
 * declaration.
 */
function moneyMissing({ checks }: Intent['decision']): string {
  const missing = checks.find(({ rule, outcome }) => rule === 'insufficient_funds' && outcome !== 'pass')
  return missing ? ` ${missing.message} Fund the agent’s wallet, unless it has been funded since.` : ''
}

const summaryByStatus: Readonly<Record<IntentStatus, (intent: Intent, why: string) => string>> = {
  created: ({ decision }, why) => `The intent waits for a person: ${why}${moneyMissing(decision)}`,
  approved: (_, why) => `The intent is approved: ${why}`,
  denied: (_, why) => `The intent was denied: ${why}`,
  completed: (_, why) => `The intent has been paid: ${why}`,
  cancelled: ({ comment }) =>
    comment ? `The intent was cancelled. The last comment: ${comment}` : 'The intent was cancelled.',
  expired: ({ decidedBy }, why) =>
    decidedBy
      ? 'The intent has expired: it was approved, but not paid in time.'
      : `The intent expired before a person decided: ${why}`,
}

async function summaryOf(
  intent: Intent,
  policyReason: string,
  context: ContextOf<typeof intentInquiryApi.explanation>,
): Promise<string> {
  const { decidedBy, comment } = intent
  const personsReason = comment ? `a person decided, with the comment: ${comment}` : 'a person decided'
  const byPerson = decidedBy !== null && decidedBy.type !== 'policy' && decidedBy.type !== 'mandate'
  const status: IntentStatus = intent.status
  const summary = summaryByStatus[status](intent, byPerson ? personsReason : policyReason)
  const [[latestPayment], ofCard] = await Promise.all([
    paymentsOfIntents([intent], context),
    cardSentence(intent, context),
  ])
  const ofPayment = latestPayment && intentPaymentSentence(latestPayment)
  return [summary, ofPayment, ofCard].filter(Boolean).join(' ')
}

const versionName = (version: number | null): string =>
  version === null ? 'no policy' : `version ${version}`

const hasChanged = ({ policyId, policyVersion }: PastDecision, current: Policy | null): boolean =>
  policyId !== (current?.id ?? null) || policyVersion !== (current?.version ?? null)

function policyNote(first: PastDecision, latest: PastDecision, current: Policy | null): string | null {
  const firstName = versionName(first.policyVersion)
  const latestName = versionName(latest.policyVersion)
  const notes: string[] = []
  if (first.policyVersion !== latest.policyVersion || first.policyId !== latest.policyId)
    notes.push(
      `The intent was declared under ${firstName} and decided again under ${latestName}, which counts.`,
    )
  if (hasChanged(latest, current))
    notes.push(
      `The policy has changed since then, from ${latestName} to ${versionName(current?.version ?? null)}: a new decision may differ.`,
    )
  return notes.length > 0 ? notes.join(' ') : null
}

export const intentInquiries = bindHandlers(intentInquiryApi, {
  async verify({ params, body }, { em, actor, emit, refuse }) {
    const intent = await em.findOne(Intent, { id: params.id })
    if (!intent) return refuse('intent_not_found')
    if (!mayUseRecord(actor, intent)) return refuse('intent_other_token')
    if (intent.status !== 'approved' && intent.status !== 'completed') return refuse('intent_not_approved')
    const { actualAmountCents, actualMerchant } = body
    const decision = await em.findOne(StoredDecision, { subjectId: intent.id, id: intent.decision.id })
    const approvedCents = decision ? cents(decision.result.holdEuros) : intent.amountCents
    const mismatches: { field: 'amount' | 'merchant'; message: string }[] = []
    if (actualAmountCents > approvedCents)
      mismatches.push({
        field: 'amount',
        message: `${formatMoney(actualAmountCents)} was charged, but at most ${formatMoney(approvedCents)} was approved.`,
      })
    if (!isSameMerchant(intent.merchant, actualMerchant))
      mismatches.push({
        field: 'merchant',
        message: `${truncateText(actualMerchant)} charged it, but ${truncateText(intent.merchant)} was approved.`,
      })
    if (mismatches.length > 0)
      emit('verification.mismatch', {
        ...intentEvent(intent),
        actualAmountCents,
        actualMerchant: truncateText(actualMerchant),
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
    const current = await effectivePolicy(em, intent.agentId)
    const changedSince = hasChanged(latest, current)
    return {
      intentId: intent.id,
      decisionId: latest.id,
      decidedAt: latest.at,
      summary: await summaryOf(intent, latest.reason, context),
      policy: policyId === null || version === null ? null : { policyId, version, changedSince },
      note: policyNote(first, latest, current),
      rules: explainChecks(latest.checks, intent.decidedAt === null),
    }
  },
})
