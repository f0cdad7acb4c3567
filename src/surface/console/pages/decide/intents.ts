import { approvalApi, intentInquiryApi, intentsApi } from '../../../../control/intents/index.ts'
import { RefusedError } from '../../../../kernel/contract/problem.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { OperationAnswer, PageRequest } from '../../page.ts'
import { renderTimelineBox } from '../../parts/history.ts'
import { copyableText, renderRecordLink } from '../../parts/links.ts'
import { readNamesInRows } from '../../parts/names.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox } from '../../parts/table.ts'
import { noneText, renderText, renderTime, valueText } from '../../parts/text.ts'
import { renderEvidenceOfIntent } from '../money/evidence.ts'
import { peopleOfApproval, renderApprovalSteps } from './approval-steps.ts'
import { renderDenyingRules, renderRemainingLimits, renderReviewRules, renderRulesTable } from './checks.ts'
import { renderIntentDecisionForm } from './decision-forms.ts'
import { readChecksOfIntent } from './waiting.ts'

type Intent = OperationAnswer<typeof intentsApi.get>

function decider(decidedBy: Intent['decidedBy']): Html {
  if (!decidedBy) return noneText
  const { type, name } = decidedBy
  return name === null ? html`${valueText(type)}` : renderText(name, 60)
}

export const intentsSection = consoleSection({
  kind: 'Intent',
  lead: 'Payments that agents declare before they spend.',
  list: intentsApi.list,
  get: intentsApi.get,
  name: ({ merchant }) => merchant,
  states: { created: 'needs approval' },
  columns: [
    'amountEuros',
    'status',
    'agentId',
    {
      Purpose: ({ purpose, status, decision, comment }) =>
        html`<span class="brief">${renderText(status === 'denied' ? (comment ?? decision.reason) : purpose, 200)}</span>`,
    },
    { 'Decided by': ({ decidedBy }) => decider(decidedBy) },
    'createdAt',
  ],
  labels: {
    clientIntentId: 'Client intent ID',
    expiresAt: 'Expires',
    possibleDuplicateOf: 'Possible duplicate of',
    comment: 'Reason',
    transactionId: 'Payment',
  },
  shows: {
    decidedAt: ({ decidedAt, decidedBy }) =>
      decidedAt !== null && html`${renderTime(decidedAt)} by ${decider(decidedBy)}`,
    expiresAt: ({ status, expiresAt }) =>
      (status === 'created' || status === 'approved') && renderTime(expiresAt),
    Risk: ({ decision: { riskScore } }) => riskScore !== null && html`${riskScore} of 100`,
  },
  hidden: ['purpose', 'decision', 'decidedBy', 'approval'],
  events: ['intent.*', 'transaction.*', 'payment.updated', 'transfer.*', 'verification.mismatch'],
  note: async (intent, request) => {
    await readNamesInRows(peopleOfApproval(intent), request)
    return html`${intent.status === 'denied' && renderDenial(intent)}<p class="why">${renderText(intent.purpose, 1_000)}</p>
${renderApprovalSteps(intent, request)}
${intent.status === 'created' && renderIntentDecisionForm(intent, request, { now: await readChecksOfIntent(intent, request), done: 'reload' })}`
  },
  actions: [
    {
      operation: intentsApi.cancel,
      when: ({ status }) => status === 'created' || status === 'approved',
      members: ['comment'],
      tone: 'against',
      success: 'Cancelled.',
    },
  ],
  hasTimeline: true,
  below: reasonsOf,
})

/** A person’s reason, or the rule that denied it. */
const renderDenial = ({ comment, decidedBy, decision }: Intent): Html =>
  decidedBy !== null && decidedBy.type !== 'policy'
    ? html`<p class="denial"><strong>Denied by ${decider(decidedBy)}</strong> ${comment !== null && renderText(comment, 1_000)}</p>`
    : renderDenyingRules(decision)

async function reasonsOf(intent: Intent, request: PageRequest): Promise<Html> {
  const { ask, id } = request
  const params = { id }
  const [explanation, timeline, proof, evidence] = await Promise.all([
    ask(intentInquiryApi.explanation, { params }),
    ask(intentsApi.timeline, { params, query: { limit: 100 } }),
    proofOf(request),
    renderEvidenceOfIntent(id, request),
  ])
  const { policy, note } = explanation
  await readNamesInRows(policy === null ? [] : [policy], request)
  return html`${renderBox(
    'Decision',
    html`<p class="lead">${renderText(explanation.summary, 500)}</p>`,
    intent.status === 'created' && renderReviewRules(intent, request),
    policy !== null &&
      html`<p>Policy ${renderRecordLink(request, policy.policyId)}, version ${policy.version}. ${note ?? ''}</p>`,
    html`<details class="more"><summary>All rules</summary>${renderRulesTable(explanation.rules, request)}</details>
<details class="more"><summary>Remaining limits</summary>${renderRemainingLimits(intent.decision, request)}</details>`,
  )}
${proof}
${evidence}
${await renderTimelineBox(timeline.data, request)}`
}

async function proofOf({ ask, id, to }: PageRequest): Promise<Html> {
  try {
    const { approvedAt, keptUntil } = await ask(approvalApi.approval, { params: { id } })
    return renderBox(
      'Proof of approval',
      html`<p>Signed with a passkey, ${renderTime(approvedAt)}. Anyone can verify it offline. Kept until ${keptUntil}.</p>
<p><a href="${to(`intents/${encodeURIComponent(id)}/approval`)}">View proof</a> ${copyableText(`agentpay intents approval ${id}`)}</p>`,
    )
  } catch (error) {
    if (error instanceof RefusedError && error.refusal.status === 404) return html``
    throw error
  }
}
