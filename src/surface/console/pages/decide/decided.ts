import { auditApi } from '../../../../compliance/audit/index.ts'
import { intentsApi } from '../../../../control/intents/index.ts'
import { peopleApi } from '../../../../identity/people/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { recordLink } from '../../parts/links.ts'
import { type Column, table } from '../../parts/table.ts'
import { euros, status, text, time, words } from '../../parts/text.ts'

type Entry = AnswerOf<typeof auditApi.list>['data'][number]

/** What people do that decides, by its operation: each is an entry of the audit. */
const decisions = {
  'intents.approve': 'approved',
  'intents.deny': 'denied',
  'cardRequests.approve': 'approved',
  'cardRequests.deny': 'denied',
  'transfers.confirmPayee': 'confirmed',
} as const

const SHOWN = 12

/** What was decided, by whom and when. */
export async function decided(request: PageRequest): Promise<Html> {
  const { ask } = request
  const [entries, intents, people] = await Promise.all([
    Promise.all(
      Object.keys(decisions).map(action => ask(auditApi.list, { query: { action, limit: SHOWN } })),
    ),
    ask(intentsApi.list, { query: { limit: 100 } }),
    ask(peopleApi.list, { query: { limit: 100 } }),
  ])
  const names = new Map(people.data.map(({ id, name }) => [id, name]))
  const payees = new Map(intents.data.map(intent => [intent.id, intent]))
  const newest = entries
    .flatMap(({ data }) => data)
    .filter(({ event }) => isDecision(event))
    .sort((one, other) => Number(new Date(other.at)) - Number(new Date(one.at)))
    .slice(0, SHOWN)
  if (newest.length === 0) return html`<p class="empty">Nobody has decided anything yet.</p>`
  const columns: readonly Column<Entry>[] = [
    { name: 'When', of: ({ at }) => time(at) },
    { name: 'Decided', of: ({ action }) => status(decisions[action as keyof typeof decisions]) },
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

/** An approval has more events than one: that of the signature is not shown again. */
const isDecision = (event: string): boolean => /^(intent|card_limit_request|payment)\./.test(event)

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
