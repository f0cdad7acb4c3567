import { doubtfulMoneyApi } from '../../../../commerce/doubtful-money/index.ts'
import type { HtmlContent } from '../../../../web/html.ts'
import type { ListItemOf, PageRequest } from '../../page.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { consoleSection } from '../../parts/section.ts'

type Entry = ListItemOf<typeof doubtfulMoneyApi.list>

const KINDS: Readonly<Record<Entry['kind'], string>> = {
  transfer: 'SEPA transfer',
  machine_payment: 'Machine payment',
  charge: 'Card charge for a payment request',
  refund: 'Refund',
  request_refund: 'Refund of a payment request',
  dispute: 'Dispute',
  sepa_file: 'File for the bank',
}

/** As the buttons on the page of the record say. */
const VERBS: Readonly<Record<string, string>> = {
  recall: 'Recall',
  paid: 'Mark as paid',
  notPaid: 'Mark as not paid',
  cancel: 'Stop waiting',
  withdraw: 'Withdraw',
}

/** A charge has no page of its own: its run is that of the payment request. */
function endings({ id, verbs, workflowId }: Entry, request: PageRequest): HtmlContent {
  const own = verbs.filter(({ by }) => by === 'owner').map(({ verb }) => VERBS[verb] ?? verb)
  const record = workflowId?.split('/').at(-1) ?? id
  return renderRecordLink(request, record, own.length > 0 ? own.join(' or ') : 'The answer only')
}

export const doubtfulMoneySection = consoleSection({
  kind: 'Payment',
  title: 'Doubtful money',
  lead: 'Money that was sent and has no known outcome yet, the oldest first. It is held, or has left the wallet.',
  list: doubtfulMoneyApi.list,
  name: ({ kind }) => KINDS[kind],
  columns: ['amountEuros', 'since', { 'What is known': 'known', 'Ended by': endings }],
  labels: { since: 'Unknown since', kind: 'Kind' },
  guide: 'doubtful-money',
  events: ['transfer.*', 'payment.updated', 'mpp.*', 'claim.*', 'refund.*', 'dispute.*'],
  empty: 'No doubtful money: the outcome of every payment is known.',
})
