import { approvalApi, inquiryApi, intentsApi } from '../../../../control/intents/index.ts'
import { Refused } from '../../../../kernel/contract/problem.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, ItemOf, PageRequest } from '../../page.ts'
import { copyable, recordLink } from '../../parts/links.ts'
import { section } from '../../parts/section.ts'
import { box, table } from '../../parts/table.ts'
import { none, text, time, words } from '../../parts/text.ts'
import { evidenceOf } from '../money/evidence.ts'
import { limitsLeft, reviewRules, rulesTable } from './checks.ts'
import { decideIntent } from './decision-forms.ts'

type Intent = AnswerOf<typeof intentsApi.get>

function decider(decidedBy: Intent['decidedBy']): Html {
  if (!decidedBy) return none
  const { type, name } = decidedBy
  return name === null ? html`${words(type)}` : text(name, 60)
}

export const intents = section({
  kind: 'Intent',
  lead: 'Payments that agents declare before they spend.',
  list: intentsApi.list,
  get: intentsApi.get,
  name: ({ merchant }) => merchant,
  columns: [
    'amountEuros',
    'status',
    'agentId',
    'purpose',
    { 'Decided by': ({ decidedBy }) => decider(decidedBy) },
    'createdAt',
  ],
  labels: {
    clientIntentId: 'Client intent ID',
    expiresAt: 'Expires',
    possibleDuplicateOf: 'Possible duplicate of',
    comment: 'Reason',
    transactionId: 'Transaction',
  },
  shows: {
    decidedAt: ({ decidedAt, decidedBy }) =>
      decidedAt !== null && html`${time(decidedAt)} by ${decider(decidedBy)}`,
    Risk: ({ decision: { riskScore } }) => riskScore !== null && html`${riskScore} of 100`,
  },
  hidden: ['purpose', 'decision', 'decidedBy'],
  events: ['intent.*', 'transaction.*', 'payment.updated', 'transfer.*', 'verification.mismatch'],
  note: (intent, request) =>
    html`<p class="why">${text(intent.purpose, 1_000)}</p>
${intent.status === 'created' && decideIntent(intent, request, 'reload')}`,
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

async function reasonsOf(intent: Intent, request: PageRequest): Promise<Html> {
  const { ask, id } = request
  const params = { id }
  const [explanation, timeline, proof, evidence] = await Promise.all([
    ask(inquiryApi.explanation, { params }),
    ask(intentsApi.timeline, { params, query: { limit: 100 } }),
    proofOf(request),
    evidenceOf(id, request),
  ])
  const { policy, note } = explanation
  return html`${box(
    'Decision',
    html`<p class="lead">${text(explanation.summary, 500)}</p>`,
    reviewRules(intent, request),
    policy !== null &&
      html`<p>Policy ${recordLink(request, policy.policyId)}, version ${policy.version}. ${note ?? ''}</p>`,
    html`<details class="more"><summary>All rules</summary>${rulesTable(explanation.rules, request)}</details>
<details class="more"><summary>Remaining limits</summary>${limitsLeft(intent.decision, request)}</details>`,
  )}
${proof}
${evidence}
${box('Timeline', timelineOf(timeline.data, request))}`
}

async function proofOf({ ask, id, to }: PageRequest): Promise<Html> {
  try {
    const { approvedAt, keptUntil } = await ask(approvalApi.approval, { params: { id } })
    return box(
      'Proof of approval',
      html`<p>Signed with a passkey, ${time(approvedAt)}. Anyone can verify it offline. Kept until ${keptUntil}.</p>
<p><a href="${to(`intents/${encodeURIComponent(id)}/approval`)}">View proof</a> ${copyable(`agentpay intents approval ${id}`)}</p>`,
    )
  } catch (error) {
    if (error instanceof Refused && error.refusal.status === 404) return html``
    throw error
  }
}

type Entry = ItemOf<typeof intentsApi.timeline>

export const timelineOf = (entries: readonly Entry[], request: PageRequest): Html =>
  table(request, 'Timeline', entries, {
    Date: 'at',
    Event: ({ event }) => words(event.replace('.', ' ')),
    Record: ({ resourceId }) => recordLink(request, resourceId),
    Reason: ({ reason }) => text(reason, 200),
    Actor: ({ personId, actorId, actorType }) =>
      html`<span>${words(actorType)} ${recordLink(request, personId ?? actorId)}</span>`,
    Request: ({ requestId }) =>
      html`<a href="${request.to(`console/causes/${encodeURIComponent(requestId)}`)}">View request</a>`,
  })
