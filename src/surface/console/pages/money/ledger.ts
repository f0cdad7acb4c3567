import { RefusedError } from '../../../../kernel/contract/problem.ts'
import { ledgerApi } from '../../../../money/ledger/index.ts'
import { type Html, type HtmlContent, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { renderRecordLink, renderReferenceLink } from '../../parts/links.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderEuros, valueText } from '../../parts/text.ts'

const moving = ['wallet.*', 'transaction.*', 'transfer.*']

const purpose = (
  { reference }: { readonly reference: Parameters<typeof renderReferenceLink>[1] },
  request: PageRequest,
): HtmlContent => renderReferenceLink(request, reference, valueText(reference.type))

export const ledgerEntriesSection = consoleSection({
  kind: 'Entry',
  title: 'Entries',
  lead: 'Newest first, with the balance after each entry.',
  list: ledgerApi.entries,
  columns: [
    {
      Entry: ({ postingId, kind }, request) => renderRecordLink(request, postingId, valueText(kind)),
      For: purpose,
    },
    'amountEuros',
    'heldEuros',
    'balanceAfterEuros',
    'bookedAt',
  ],
  labels: { balanceAfterEuros: 'Balance after' },
  events: moving,
  empty: 'No entries yet.',
})

/** The proof reads every entry, so it is made only on demand. */
async function proof(request: PageRequest): Promise<Html> {
  const { query, part } = request
  const result = await part({
    id: 'proof',
    events: [],
    make: () => (query.prove === undefined ? html`` : proofInWords(request)),
  })
  return html`<form method="get" data-part="proof"><input type="hidden" name="prove" value="now"><button type="submit" class="main">Verify ledger</button></form>
${result}`
}

async function proofInWords({ ask }: PageRequest): Promise<Html> {
  try {
    const { ok, accounts, entries, sums, problems } = await ask(ledgerApi.verify)
    const counted = `${entries.toLocaleString('en')} entries on ${accounts.toLocaleString('en')} accounts verified`
    const sum = sums.map(({ sumEuros }) => renderEuros(sumEuros))
    if (ok)
      return html`<p class="proof good" role="status"><strong>The ledger is correct.</strong> ${counted}. Every balance equals the sum of its entries, no entry is missing, holds match open payments, and the total is ${sum}.</p>`
    return html`<div class="proof bad" role="alert"><p><strong>The ledger has errors.</strong> ${counted}; the total is ${sum}. Stop payments and notify the operator.</p>
<ul>${problems.map(problem => html`<li>${problem}</li>`)}</ul></div>`
  } catch (error) {
    if (error instanceof RefusedError) return html`<p class="refusal" role="alert">${error.message}</p>`
    throw error
  }
}

export const ledgerAccountsSection = consoleSection({
  kind: 'Account',
  title: 'Ledger',
  lead: 'Double-entry ledger. Every posting sums to zero.',
  list: ledgerApi.accounts,
  get: ledgerApi.account,
  command: 'ledger account',
  name: ({ kind }) => valueText(kind),
  columns: ['walletId', 'postedEuros', 'heldEuros', 'version'],
  labels: { version: 'Entries', normal: 'Normal side' },
  hidden: ['kind'],
  ignored: ['prove'],
  events: moving,
  empty: 'No accounts yet. The first funding opens one.',
  call: 'agentpay fund create --help',
  above: async request => (request.may(ledgerApi.verify) ? await proof(request) : false),
  below: async (
    { id },
    request,
  ) => html`${await ledgerEntriesSection.related({ title: 'Entries', params: { id }, limit: 20 }, request)}
<p><a href="${request.to(`console/entries?id=${id}`)}">All entries</a></p>`,
})

export const ledgerPostingsSection = consoleSection({
  kind: 'Posting',
  lead: 'Ledger postings, newest first. The entries of each sum to zero.',
  list: ledgerApi.transfers,
  get: ledgerApi.transfer,
  command: 'ledger transfer',
  section: { name: 'accounts', title: 'Ledger' },
  name: ({ kind }) => valueText(kind),
  columns: ['reference', 'bookedAt'],
  labels: {
    reference: 'For',
    referenceId: 'For (ID of a transfer, an intent, …)',
    entries: 'Entries (sum to zero)',
  },
  shows: { reference: purpose },
  hidden: ['kind'],
  events: moving,
  empty: 'No postings yet.',
  call: 'agentpay ledger transfers',
})
