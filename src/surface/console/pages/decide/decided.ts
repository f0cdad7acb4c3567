import { auditApi, type DecidingAction } from '../../../../compliance/audit/index.ts'
import { intentsApi } from '../../../../control/intents/index.ts'
import { peopleApi } from '../../../../identity/people/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ItemOf, PageRequest } from '../../page.ts'
import { recordLink } from '../../parts/links.ts'
import { table } from '../../parts/table.ts'
import { euros, status, text, words } from '../../parts/text.ts'

type Entry = ItemOf<typeof auditApi.list>
type Intent = ItemOf<typeof intentsApi.list>

/** How it was decided, by the operation that did. */
const decisions: Readonly<Record<DecidingAction, string>> = {
  'intents.approve': 'approved',
  'intents.deny': 'denied',
  'cardRequests.approve': 'approved',
  'cardRequests.deny': 'denied',
  'transfers.confirmPayee': 'confirmed',
}

const SHOWN = 12

/** What was decided, by whom and when. */
export async function decided(request: PageRequest): Promise<Html> {
  const { ask } = request
  const [{ data: newest }, intents, people] = await Promise.all([
    ask(auditApi.list, { query: { kind: 'decision', limit: SHOWN } }),
    ask(intentsApi.list, { query: { limit: 100 } }),
    ask(peopleApi.list, { query: { limit: 100 } }),
  ])
  const names = new Map(people.data.map(({ id, name }) => [id, name]))
  const payees = new Map(intents.data.map(intent => [intent.id, intent]))
  if (newest.length === 0) return html`<p class="empty">Nobody has decided anything yet.</p>`
  return table(request, 'What was decided', newest, {
    When: 'at',
    Decided: ({ action }) => status(decisions[action as DecidingAction]),
    What: ({ resourceId }) => recordLink(request, resourceId, payeeOf(payees.get(resourceId))),
    By: entry => nameOf(entry, names, request),
  })
}

const payeeOf = (intent: Intent | undefined): Html | undefined =>
  intent && html`${euros(intent.amountEuros)} to ${text(intent.merchant, 60)}`

function nameOf(
  { personId, actorType, actorId }: Entry,
  names: ReadonlyMap<string, string>,
  request: PageRequest,
): Html {
  const id = personId ?? actorId
  const name = id === null ? undefined : names.get(id)
  if (name !== undefined) return recordLink(request, id, text(name, 60))
  return html`<span>${words(actorType)} ${recordLink(request, id)}</span>`
}
