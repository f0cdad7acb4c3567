import { prefixOf } from '../../../values/ids.ts'
import { type Content, type Html, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { nameOf } from './names.ts'
import { none, text } from './text.ts'

const sectionsByPrefix: Readonly<Record<string, string>> = {
  agent: 'agents',
  intent: 'intents',
  cardreq: 'card-requests',
  proposal: 'proposals',
  txn: 'transactions',
  transfer: 'transfers',
  wallet: 'wallets',
  beneficiary: 'beneficiaries',
  statement: 'statements',
  account: 'accounts',
  posting: 'postings',
  request: 'requests',
  mppcredential: 'machine-payments',
  funding: 'fundings',
  refund: 'refunds',
  dispute: 'disputes',
  receipt: 'receipts',
  evidence: 'evidence',
  credit: 'incoming',
  card: 'cards',
  policy: 'policies',
  mandate: 'mandates',
  delegation: 'delegations',
  run: 'runs',
  event: 'events',
  webhook: 'webhooks',
  delivery: 'deliveries',
  person: 'people',
  key: 'keys',
  session: 'devices',
  kycsubmission: 'identity',
  onboarding: 'onboarding',
  gdprdeletion: 'deletions',
  gdprexport: 'exports',
}

export function addressOf(id: string): string | undefined {
  const section = sectionsByPrefix[prefixOf(id)]
  return section && `console/${section}/${encodeURIComponent(id)}`
}

export const sectionOf = (prefix: string): string | undefined => sectionsByPrefix[prefix]

/** Links to a record by its name, if the page has read it, and by its id otherwise. */
export function recordLink(
  request: Pick<PageRequest, 'to'>,
  id: string | null | undefined,
  name?: Content,
): Html {
  if (!id) return none
  const address = addressOf(id)
  const known = nameOf(request, id)
  const shown = name ?? (known === undefined ? html`<code>${id}</code>` : text(known, 60))
  return address ? html`<a href="${request.to(address)}">${shown}</a>` : html`${shown}`
}

export const copyable = (text: string): Html =>
  html`<span class="copyable"><code>${text}</code> <button type="button" class="small" data-copy="${text}">Copy</button></span>`

/** The cause of a posting. Funding of an agent or a card has an id, but not a record of its own. */
export const referenceLink = (
  request: Pick<PageRequest, 'to'>,
  { type, id }: { readonly type: string; readonly id: string },
  name: Content,
): Html =>
  ['agent', 'card'].includes(type) && id.startsWith('funding_')
    ? html`${name}`
    : recordLink(request, id, name)

/**
 * Links to the workflow of a record in the Temporal Web UI. Without the address of that UI, it shows the
 * workflow id to copy.
 */
export function runLink({ ports }: Pick<PageRequest, 'ports'>, workflowId: string | null): Html {
  if (workflowId === null) return none
  const address = ports.runUrl(workflowId)
  return address === null
    ? copyable(workflowId)
    : html`<a href="${address}" rel="noreferrer" target="_blank">Open in Temporal</a>`
}
