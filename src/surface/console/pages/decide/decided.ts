import { auditApi, type DecidingAction } from '../../../../compliance/audit/index.ts'
import { intentsApi } from '../../../../control/intents/index.ts'
import { peopleApi } from '../../../../identity/people/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { recordLink } from '../../parts/links.ts'
import { type Column, table } from '../../parts/table.ts'
import { euros, status, text, time, words } from '../../parts/text.ts'

type Entry = AnswerOf<typeof auditApi.list>['data'][number]

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
  const columns: readonly Column<Entry>[] = [
    { name: 'When', of: ({ at }) => time(at) },
    { name: 'Decided', of: ({ action }) => status(decisions[action as DecidingAction]) },
    {
      name: 'What',
      of({ resourceId }) {
        const intent = payees.get(resourceId)
        return intent
          ? recordLink(
              request,
              resourceId,
              html`${euros(intent.amountEuros)} to ${text(intent.merchant, 60)}`,
            )
          : recordLink(request, resourceId)
      },
    },
    { name: 'By', of: entry => nameOf(entry, names, request) },
  ]
  return table(columns, newest, request, 'What was decided')
}

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
