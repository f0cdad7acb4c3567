import { idPrefix } from '../../../values/ids.ts'
import { isTypeId } from '../../../values/members.ts'
import { type Html, type HtmlContent, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { knownRecordName } from './names.ts'
import { noneText, renderText } from './text.ts'

/** A map, because third-party text may look like an id: `constructor_1`. */
const sectionsByPrefix: ReadonlyMap<string, string> = new Map([
  ['agent', 'agents'],
  ['intent', 'intents'],
  ['cardreq', 'card-requests'],
  ['changerequest', 'change-requests'],
  ['proposal', 'proposals'],
  ['txn', 'transactions'],
  ['transfer', 'transfers'],
  ['wallet', 'wallets'],
  ['beneficiary', 'beneficiaries'],
  ['statement', 'statements'],
  ['account', 'accounts'],
  ['posting', 'postings'],
  ['request', 'requests'],
  ['mppcredential', 'machine-payments'],
  ['funding', 'fundings'],
  ['refund', 'refunds'],
  ['dispute', 'disputes'],
  ['receipt', 'receipts'],
  ['evidence', 'evidence'],
  ['credit', 'incoming'],
  ['card', 'cards'],
  ['policy', 'policies'],
  ['mandate', 'mandates'],
  ['delegation', 'delegations'],
  ['assistant', 'assistants'],
  ['run', 'runs'],
  ['event', 'events'],
  ['webhook', 'webhooks'],
  ['delivery', 'deliveries'],
  ['person', 'people'],
  ['key', 'keys'],
  ['session', 'devices'],
  ['kycsubmission', 'identity'],
  ['onboarding', 'onboarding'],
  ['gdprdeletion', 'deletions'],
  ['gdprexport', 'exports'],
])

export function recordAddress(id: string): string | undefined {
  const section = isTypeId(id) ? sectionsByPrefix.get(idPrefix(id)) : undefined
  return section && `console/${section}/${encodeURIComponent(id)}`
}

export const sectionOfIdPrefix = (prefix: string): string | undefined => sectionsByPrefix.get(prefix)

/** Links to a record by its name, if the page has read it, and by its id otherwise. */
export function renderRecordLink(
  request: Pick<PageRequest, 'to'>,
  id: string | null | undefined,
  name?: HtmlContent,
): Html {
  if (!id) return noneText
  const address = recordAddress(id)
  const known = knownRecordName(request, id)
  const shown = name ?? (known === undefined ? html`<code>${id}</code>` : renderText(known.name, 60))
  const mark = name === undefined && known?.ended !== undefined && html` <small>${known.ended}</small>`
  return address ? html`<a href="${request.to(address)}">${shown}</a>${mark}` : html`${shown}${mark}`
}

/** The agent that pays, or the owner. */
export const renderSpender = (request: Pick<PageRequest, 'to'>, agentId: string | null): Html =>
  agentId === null ? html`You` : renderRecordLink(request, agentId)

export const copyableText = (text: string): Html =>
  html`<span class="copyable"><code>${text}</code> <button type="button" class="small" data-copy="${text}">Copy</button></span>`

/** A line of a menu that copies a text. */
export const renderCopyButton = (text: string, label: HtmlContent): Html =>
  html`<button type="button" class="plain" data-copy="${text}">${label}</button>`

/** The cause of a posting. Funding of an agent or a card has an id, but not a record of its own. */
export const renderReferenceLink = (
  request: Pick<PageRequest, 'to'>,
  { type, id }: { readonly type: string; readonly id: string },
  name: HtmlContent,
): Html =>
  ['agent', 'card'].includes(type) && id.startsWith('funding_')
    ? html`${name}`
    : renderRecordLink(request, id, name)

/**
 * Links to the workflow of a record in the Temporal Web UI. Without the address of that UI, it shows the
 * workflow id to copy.
 */
export function renderRunLink({ service }: Pick<PageRequest, 'service'>, workflowId: string | null): Html {
  if (workflowId === null) return noneText
  const address = service.runUrl(workflowId)
  return address === null
    ? copyableText(workflowId)
    : html`<a href="${address}" rel="noreferrer" target="_blank">Open in Temporal</a>`
}
