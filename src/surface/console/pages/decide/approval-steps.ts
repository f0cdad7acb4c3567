import type { intentsApi } from '../../../../control/intents/index.ts'
import { type Html, type HtmlContent, html } from '../../../../web/html.ts'
import { roleOf } from '../../../console-pages/index.ts'
import type { ListItemOf, PageRequest } from '../../page.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { capitalized, countOf, renderTime } from '../../parts/text.ts'

type Intent = Pick<ListItemOf<typeof intentsApi.list>, 'approval'>
type Expiring = Pick<ListItemOf<typeof intentsApi.list>, 'approval' | 'expiresAt'>
type Progress = NonNullable<Intent['approval']>
type Approvers = Progress['steps'][number]['of']

const groups: ReadonlySet<string> = new Set(['owners', 'approvers'])

/** The people whom the lines below name, as rows whose names a page reads. */
export const peopleOfApproval = ({ approval }: Intent): { personId: string }[] =>
  approval === null
    ? []
    : [
        ...approval.approvals.flatMap(({ personId, inPlaceOf }) =>
          [personId, ...(inPlaceOf === null ? [] : [inPlaceOf])].map(one => ({ personId: one })),
        ),
        ...[...approval.awaits, ...approval.steps.flatMap(({ of }) => of)]
          .filter(one => !groups.has(one))
          .map(personId => ({ personId })),
      ]

export const approvalCount = ({ given, needed }: Progress): string =>
  `${given} of ${countOf(needed, 'approval')}`

function joined(parts: readonly HtmlContent[]): Html {
  const [last] = parts.slice(-1)
  const others = parts.slice(0, -1)
  if (others.length === 0) return html`${last}`
  return html`${others.map((one, place) => (place === 0 ? one : html`, ${one}`))} and ${last}`
}

function peopleText(approvers: Approvers, request: PageRequest): Html {
  const [first = '', ...others] = [approvers].flat()
  const nameOf = (one: string, shown = one): Html =>
    groups.has(one) ? html`${shown}` : renderRecordLink(request, one)
  return joined([nameOf(first, capitalized(first)), ...others.map(one => nameOf(one))])
}

const areOrIs = (approvers: Approvers): string => {
  const [first = '', ...others] = [approvers].flat()
  return others.length === 0 && !groups.has(first) ? 'is' : 'are'
}

/** What happens when the time of the present step ends. */
function atEnd({ step, steps }: Progress, request: PageRequest): Html {
  const [now, next] = steps.slice(step - 1)
  if (now?.then !== 'next' || !next) return html`then it is denied`
  const people = typeof next.of === 'string' ? next.of : peopleText(next.of, request)
  return html`then ${people} ${areOrIs(next.of)} asked as well`
}

/** Whether it ends by itself before the present step does, or with it. */
export const expiresFirst = ({ approval, expiresAt }: Expiring): boolean =>
  approval === null || approval.endsAt === null || Date.parse(approval.endsAt) >= Date.parse(expiresAt)

/** Who has approved, and who is asked until when: `1 of 2 approvals. Ada approved today 14:02. Owners are asked until …`. */
export function renderApprovalSteps(waiting: Expiring, request: PageRequest): HtmlContent {
  const { approval, expiresAt } = waiting
  if (approval === null) return undefined
  const { approvals, awaits, endsAt } = approval
  const expires = expiresFirst(waiting)
  const end = expires ? html`then it expires` : atEnd(approval, request)
  const asked =
    awaits.length > 0 &&
    html` ${peopleText(awaits, request)} ${areOrIs(awaits)} asked until ${renderTime(expires ? expiresAt : endsAt, 'in a sentence')}, ${end}.`
  return html`<p class="approvals"><strong>${approvalCount(approval)}.</strong>${approvals.map(
    ({ personId, inPlaceOf, at }) =>
      html` ${renderRecordLink(request, personId)} approved${inPlaceOf !== null && html` in place of ${renderRecordLink(request, inPlaceOf)}`} ${renderTime(at, 'in a sentence')}.`,
  )}${asked}</p>`
}

/** What a form says after an approval that others follow. */
export const RECORDED = 'Recorded: {approval.given} of {approval.needed} approvals.'

export const NOT_ASKED = 'The policy does not ask you now.'

/** Only the service knows who is a deputy. */
export const renderNotAsked = (why: string, approveAs: (submit: string) => Html): Html =>
  html`<p class="unasked">${why}</p>${why === NOT_ASKED && approveAs('Approve as a deputy')}`

/**
 * Why an approval of the person who looks would not count; undefined if it may. The service says the rest: only it knows
 * who made the request, and who is a deputy.
 */
export function whyNotAsked({ approval }: Intent, { actor }: Pick<PageRequest, 'actor'>): string | undefined {
  if (approval === null) return undefined
  const { approvals, awaits } = approval
  if (approvals.some(({ personId }) => personId === actor.id))
    return 'You have approved this. Other people must approve it as well.'
  const role = roleOf(actor)
  const isAsked = awaits.some(
    one => one === actor.id || one === 'approvers' || (one === 'owners' && role === 'owner'),
  )
  return isAsked ? undefined : NOT_ASKED
}
