import { policyChangesApi } from '../../../../control/policies/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ListItemOf, PageRequest } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { renderActorLink } from '../../parts/history.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { readNamesInRows } from '../../parts/names.ts'
import { renderBox } from '../../parts/table.ts'
import { renderText, renderTime } from '../../parts/text.ts'
import { peopleOfApproval, renderApprovalSteps, whyNotAsked } from './approval-steps.ts'

export type PolicyChangeItem = ListItemOf<typeof policyChangesApi.changes>

/** At most 20 wait, and an expired one is older than each that waits. */
const MOST = 20

/** What a form says whose change several people approve first. */
export const proposedByStatus = {
  waiting: 'Proposed: {approval.given} of {approval.needed} approvals. It takes effect with the last one.',
}

export async function readWaitingPolicyChanges({ ask, now }: PageRequest): Promise<PolicyChangeItem[]> {
  const { data } = await ask(policyChangesApi.changes, { query: { status: 'waiting', limit: MOST } })
  return data.filter(({ expiresAt }) => new Date(expiresAt) > now)
}

/** The people and keys that a change names, as rows whose names a page reads. */
export const actorsOfPolicyChange = (change: PolicyChangeItem): object[] => [
  ...peopleOfApproval(change),
  { proposedById: change.proposedBy.id },
]

export function renderPolicyChangeProposer(
  { proposedBy: { type, id, name } }: PolicyChangeItem,
  request: PageRequest,
): Html {
  if (name !== null) return renderRecordLink(request, id, renderText(name, 60))
  return renderActorLink({ actorType: type, actorId: id, personId: null }, request)
}

type Difference = PolicyChangeItem['changes'][number]

/** `Daily limit of Scout: € 50.00 → € 70.00` */
export const renderDifference = ({ id, name, field, from, to }: Difference): Html =>
  html`${renderText(field, 80)} of ${renderText(name ?? id, 80)}: ${renderText(from, 200)} → ${renderText(to, 200)}`

export const renderDifferences = ({ changes }: PolicyChangeItem): Html =>
  html`<ul class="reasons">${changes.map(one => html`<li>${renderDifference(one)}</li>`)}</ul>`

export const renderPolicyChangeSteps = (change: PolicyChangeItem, request: PageRequest): Html =>
  html`${renderApprovalSteps(change, request, 'it expires')}`

export function renderPolicyChangeForm(change: PolicyChangeItem, request: PageRequest, done: string): Html {
  const params = { id: change.id }
  const notAsked = request.may(policyChangesApi.approveChange) ? whyNotAsked(change, request) : undefined
  const approve = renderOperationForm(request, policyChangesApi.approveChange, {
    params,
    submit: 'Approve with passkey',
    tone: 'main',
    done,
    success: 'Approved. The new limits apply.',
    successByStatus: { waiting: 'Recorded: {approval.given} of {approval.needed} approvals.' },
  })
  const reject = renderOperationForm(request, policyChangesApi.rejectChange, {
    params,
    members: ['reason'],
    submit: 'Reject',
    tone: 'against',
    done,
    success: 'Rejected.',
    inDialog: true,
  })
  return html`<div class="decide">${notAsked === undefined ? approve : html`<p class="unasked">${notAsked}</p>`}${reject}</div>`
}

/** The changes of a policy, or of its agent, that wait; empty without one. */
export async function renderPolicyChangesBox(
  { id, agentId }: { readonly id: string; readonly agentId: string | null },
  request: PageRequest,
): Promise<Html> {
  const all = await readWaitingPolicyChanges(request)
  const waiting = all.filter(
    change => change.policyId === id || (agentId !== null && change.agentId === agentId),
  )
  if (waiting.length === 0) return html``
  await readNamesInRows(waiting.flatMap(actorsOfPolicyChange), request)
  return renderBox(
    'Waiting for approval',
    waiting.map(
      change => html`<article data-key="${change.id}">${renderDifferences(change)}
<p class="times">Proposed by ${renderPolicyChangeProposer(change, request)} ${renderTime(change.createdAt, 'in a sentence')}</p>
${renderPolicyChangeSteps(change, request)}
${renderPolicyChangeForm(change, request, 'reload')}</article>`,
    ),
  )
}
