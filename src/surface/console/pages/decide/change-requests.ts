import { changeRequestsApi } from '../../../../control/change-requests/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ListItemOf, PageRequest } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { renderActorLink } from '../../parts/history.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { readNamesInRows } from '../../parts/names.ts'
import { secretMembers } from '../../parts/schema.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox } from '../../parts/table.ts'
import { renderText, renderTime } from '../../parts/text.ts'
import {
  approvalCount,
  peopleOfApproval,
  RECORDED,
  renderApprovalSteps,
  renderNotAsked,
  whyNotAsked,
} from './approval-steps.ts'

export type ChangeRequestItem = ListItemOf<typeof changeRequestsApi.list>

/** At most 10 of keys wait, and 5 of each person. An expired one is older than each that waits. */
const MOST = 100

export async function readWaitingChangeRequests({ ask, now }: PageRequest): Promise<ChangeRequestItem[]> {
  const { data } = await ask(changeRequestsApi.list, { query: { status: 'waiting', limit: MOST } })
  return data.filter(({ expiresAt }) => new Date(expiresAt) > now)
}

/** The people and keys that a change names, as rows whose names a page reads. */
export const actorsOfChangeRequest = (change: ChangeRequestItem): object[] => [
  ...peopleOfApproval(change),
  { proposedById: change.proposedBy.id },
]

export function renderChangeRequestProposer(
  { proposedBy: { type, id, name } }: ChangeRequestItem,
  request: PageRequest,
): Html {
  if (name !== null) return renderRecordLink(request, id, renderText(name, 60))
  return renderActorLink({ actorType: type, actorId: id, personId: null }, request)
}

type Difference = ChangeRequestItem['changes'][number]

/** `Daily limit of Scout: € 50.00 → € 70.00` */
export const renderDifference = ({ id, name, field, from, to }: Difference): Html =>
  html`${renderText(field, 80)} of ${renderText(name ?? id, 80)}: ${renderText(from, 200)} → ${renderText(to, 200)}`

export const renderDifferences = ({ changes }: ChangeRequestItem): Html =>
  html`<ul class="reasons">${changes.map(one => html`<li>${renderDifference(one)}</li>`)}</ul>`

export function renderChangeRequestForm(change: ChangeRequestItem, request: PageRequest, done: string): Html {
  const params = { id: change.id }
  const notAsked = request.may(changeRequestsApi.approve) ? whyNotAsked(change, request) : undefined
  const approveAs = (submit: string) =>
    renderOperationForm(request, changeRequestsApi.approve, {
      params,
      submit,
      tone: 'main',
      done,
      secrets: secretMembers(changeRequestsApi.approve),
      success: 'Approved. The change is made.',
      successByStatus: { waiting: RECORDED },
    })
  const reject = renderOperationForm(request, changeRequestsApi.reject, {
    params,
    members: ['reason'],
    submit: 'Reject',
    tone: 'against',
    done,
    success: 'Rejected.',
    inDialog: true,
  })
  return html`<div class="decide">${notAsked === undefined ? approveAs('Approve with passkey') : renderNotAsked(notAsked, approveAs)}${reject}</div>`
}

type IsAbout = (change: ChangeRequestItem) => boolean

/** Those of a policy, or of its agent. */
export const isOfPolicy =
  ({ id, agentId }: { readonly id: string; readonly agentId: string | null }): IsAbout =>
  change =>
    change.policyId === id || (agentId !== null && change.agentId === agentId)

/** The changes of a page's record that wait; empty without one. */
export async function renderChangeRequestsBox(isAbout: IsAbout, request: PageRequest): Promise<Html> {
  const waiting = (await readWaitingChangeRequests(request)).filter(isAbout)
  if (waiting.length === 0) return html``
  await readNamesInRows(waiting.flatMap(actorsOfChangeRequest), request)
  return renderBox(
    'Waiting for approval',
    waiting.map(
      change => html`<article data-key="${change.id}">${renderDifferences(change)}
<p class="times">Proposed by ${renderChangeRequestProposer(change, request)} ${renderTime(change.createdAt, 'in a sentence')}</p>
${renderApprovalSteps(change, request)}
${renderChangeRequestForm(change, request, 'reload')}</article>`,
    ),
  )
}

const differenceText = ({ name, id, field, from, to }: Difference): string =>
  `${field} of ${name ?? id}: ${from} → ${to}`

export const changeRequestsSection = consoleSection({
  kind: 'Change',
  title: 'Changes',
  lead: 'Changes of limits, or of who approves, that several people decide. Each expires after three days.',
  list: changeRequestsApi.list,
  get: changeRequestsApi.get,
  name: ({ changes: [first, ...others] }) =>
    first && others.length === 0 ? differenceText(first) : `${others.length + 1} changes`,
  columns: [
    'status',
    { 'Proposed by': (change, request) => renderChangeRequestProposer(change, request) },
    { Approvals: ({ approval }) => approvalCount(approval) },
    'reason',
    'createdAt',
  ],
  hidden: ['changes', 'approval', 'proposedBy'],
  events: ['change_request.*'],
  async note(change, request) {
    await readNamesInRows(actorsOfChangeRequest(change), request)
    return html`${renderDifferences(change)}${renderApprovalSteps(change, request)}${change.status === 'waiting' && renderChangeRequestForm(change, request, 'reload')}`
  },
})
