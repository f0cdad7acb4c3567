import { consentApi } from '../../../../compliance/gdpr/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ListItemOf, PageRequest } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox, renderTable, type TableColumns } from '../../parts/table.ts'
import { renderStatus, renderText, valueText } from '../../parts/text.ts'

type Consent = ListItemOf<typeof consentApi.listConsents>

const events = ['consent.*']
const changed = { done: 'part:standing,list', success: 'Saved.' } as const

const columns: TableColumns<Consent> = {
  Purpose: ({ purpose }) => renderText(valueText(purpose)),
  Status: ({ granted }) => renderStatus(granted ? 'given' : 'not given'),
  Wording: 'wordingVersion',
  'Changed by': ({ by }, request) =>
    html`${valueText(by.type)} ${by.id !== null && renderRecordLink(request, by.id)}`,
  Date: 'createdAt',
}

export const consentsSection = consoleSection({
  kind: 'Consent',
  title: 'Consent',
  lead: 'Optional uses of your data. Every change is recorded.',
  list: consentApi.listConsents,
  columns: [columns],
  events,
  empty: 'No consent requests yet.',
  call: 'agentpay gdpr put-consent --help',
  create: {
    operation: consentApi.putConsent,
    members: ['purposes.0.purpose', 'purposes.0.wordingVersion', 'purposes.0.granted'],
    labels: {
      'purposes.0.purpose': 'Purpose, such as usage_analytics',
      'purposes.0.wordingVersion': 'Version of the wording',
      'purposes.0.granted': 'Consent given',
    },
    values: { 'purposes.0.granted': true },
    submit: 'Record consent',
    ...changed,
  },
  above: request => request.part({ id: 'standing', events, make: () => currentConsent(request) }),
})

async function currentConsent(request: PageRequest): Promise<Html> {
  const { consents } = await request.ask(consentApi.getConsent)
  const shown = renderTable(request, 'Current consent', consents, { ...columns, Action: change })
  return html`${consents.length > 0 && renderBox('Current consent', shown)}`
}

const change = ({ purpose, granted, wordingVersion }: Consent, request: PageRequest): Html =>
  renderOperationForm(request, consentApi.putConsent, {
    variant: purpose,
    given: { purposes: [{ purpose, wordingVersion, granted: !granted }] },
    submit: granted ? 'Withdraw' : 'Give consent',
    ...changed,
  })
